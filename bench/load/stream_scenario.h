// One endless stream per connection, as fast as it goes. What costs is left to the other sides: up
// by sendfile from memory, down by receiving without copying.
#pragma once

#include <array>
#include <vector>

#include "client.h"

namespace headrace::load {

class StreamScenario final : public Scenario {
 public:
  explicit StreamScenario(Client& client);

  void start(int64_t now_ns) override;
  void on_up(Connection& connection, int64_t now_ns) override;
  void on_ready(Connection& connection, uint32_t events) override;
  void on_timeout(Connection& connection, int64_t now_ns) override;
  int64_t on_turn(int64_t now_ns) override;
  void on_window_begin(int64_t now_ns) override;
  void on_window_end(int64_t now_ns) override;

 private:
  // When so many bytes had arrived.
  struct Mark {
    int64_t when_ns = 0;
    uint64_t bytes = 0;
  };
  struct State {
    uint64_t sent_bytes = 0;
    Mark arrived;       // what is known of the other end (up), or is here (down)
    Mark window_begin;  // the first of them within the measured time
    bool in_window = false;
    int64_t window_began_ns = 0;
    uint64_t window_sent_bytes = 0;   // up: sent before the measured time
    bool is_queued = false;           // in again_
    uint32_t reads = 0;               // down, to choose which are looked at
    std::array<uint8_t, 8> report{};  // up: a count that came in pieces
    size_t report_bytes = 0;
  };

  void begin(Connection& connection);
  void go_on(Connection& connection, uint32_t events);
  bool send(Connection& connection, State& state);
  bool receive(Connection& connection, State& state);
  bool receive_reports(Connection& connection, State& state);
  void arrived(State& state, uint64_t bytes, int64_t now_ns);
  IoResult read_some(Connection& connection, State& state, bool& right);
  void lose(Connection& connection, Failure failure, const std::string& reason);

  std::vector<State> states_;
  std::vector<uint32_t> again_;  // streams that spent their turn's share and have more to do
};

}  // namespace headrace::load
