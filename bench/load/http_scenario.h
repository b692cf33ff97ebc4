// What the scenarios of HTTP exchanges share: one exchange at a time on a connection, its end, its
// failure, and the end of the connection.
#pragma once

#include <vector>

#include "client.h"
#include "exchange.h"
#include "request_head.h"

namespace headrace::load {

class HttpScenario : public Scenario {
 public:
  HttpScenario(Client& client, Loop loop);

  void on_ready(Connection& connection, uint32_t events) final;
  void on_timeout(Connection& connection, int64_t now_ns) final;
  void on_up(Connection& connection, int64_t now_ns) final;
  void on_setup_failed(Connection& connection, Failure failure, int64_t now_ns) override;
  void on_window_end(int64_t now_ns) override;

 protected:
  // What an exchange needs beyond the common settings.
  struct Ask {
    uint64_t answer_bytes = 0;
    uint64_t body_bytes = 0;
    bool last = false;
    bool half_close = false;
  };

  // The connection is new and can be asked.
  virtual void on_fresh(Connection& connection, int64_t now_ns) = 0;
  // An answer is complete and right. The connection can be asked again; or it is about to end, and
  // on_gone() follows.
  virtual void on_answer(Connection& connection, bool can_be_asked, int64_t now_ns) = 0;
  // It ended in order, after its last answer or while it rested; closed already.
  virtual void on_gone(Connection& connection, int64_t now_ns) = 0;
  // Its exchange failed; counted and closed already.
  virtual void on_lost(Connection& connection, int64_t now_ns) = 0;

  // Latency counts from `since_ns`, the timeout from now.
  void ask(Connection& connection, const Ask& what, int64_t since_ns, int64_t now_ns);
  // A replacement for a connection that ended: at once where it had carried anything.
  void reopen(Connection& connection, int64_t now_ns);
  uint32_t exchanges_of(const Connection& connection) const {
    return states_[connection.index].exchanges;
  }
  bool is_resting(const Connection& connection) const {
    return connection.phase == Connection::Phase::up &&
           states_[connection.index].phase == Phase::resting;
  }
  Loop loop() const { return loop_; }

 private:
  enum class Phase : uint8_t { resting, asking, ending };
  struct State {
    Exchange exchange;
    Phase phase = Phase::resting;
    uint32_t exchanges = 0;  // begun on this connection
    int64_t since_ns = 0;
    Ask asked;
    bool is_repeat = false;  // asked a second time, or about to be when the connection is up
  };

  void advance(Connection& connection, State& state, uint32_t events);
  void expect_end(Connection& connection, State& state);
  void fail(Connection& connection, State& state, int64_t now_ns);
  void lose(Connection& connection, State& state, Failure failure, const std::string& reason,
            int64_t now_ns);
  bool may_repeat(const State& state) const;
  bool is_checked_in_full(const State& state) const;

  Loop loop_;
  RequestHeads heads_;
  std::vector<State> states_;
};

}  // namespace headrace::load
