// Held connections to an echo listener, a small message on each per interval, spread evenly: number
// m of all is due at start + m * interval / connections, on connection m mod connections. Latency
// is the round trip from the due time.
#pragma once

#include <vector>

#include "client.h"

namespace headrace::load {

class MessageScenario final : public Scenario {
 public:
  explicit MessageScenario(Client& client);

  void start(int64_t now_ns) override;
  void on_up(Connection& connection, int64_t now_ns) override;
  void on_ready(Connection& connection, uint32_t events) override;
  void on_timeout(Connection& connection, int64_t now_ns) override;
  int64_t on_turn(int64_t now_ns) override;
  bool is_drained() const override { return client_.meter().all_due_ended(); }

 private:
  struct State {
    uint64_t first_round = 0;  // the interval of the first message over this connection
    uint64_t due_bytes = 0;    // of the messages that were due so far
    uint64_t sent_bytes = 0;
    uint64_t received_bytes = 0;
  };

  uint64_t offset_of(const Connection& connection) const;
  int64_t due_of(const Connection& connection, uint64_t message) const;
  void send_due(Connection& connection, State& state);
  bool receive(Connection& connection, State& state);
  void lose(Connection& connection, Failure failure, const std::string& reason);

  uint64_t size_;
  uint64_t next_message_ = 0;  // of all connections
  int64_t start_ns_ = 0;
  std::vector<State> states_;
};

}  // namespace headrace::load
