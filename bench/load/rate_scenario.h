// Open loop of new connections: each arrival connects, has one exchange and is closed. Latency
// counts from the scheduled arrival, waiting for a free place among the open ones included.
#pragma once

#include <deque>
#include <vector>

#include "http_scenario.h"
#include "schedule.h"

namespace headrace::load {

class RateScenario final : public HttpScenario {
 public:
  explicit RateScenario(Client& client);

  bool holds_connections() const override { return false; }
  void start(int64_t now_ns) override;
  int64_t on_turn(int64_t now_ns) override;
  bool is_drained() const override;
  void on_setup_failed(Connection& connection, Failure failure, int64_t now_ns) override;

 private:
  void on_fresh(Connection& connection, int64_t now_ns) override;
  void on_answer(Connection&, bool, int64_t) override {}
  void on_gone(Connection& connection, int64_t now_ns) override;
  void on_lost(Connection& connection, int64_t now_ns) override;

  Schedule schedule_;
  std::deque<int64_t> waiting_due_ns_;  // due, but all places are taken
  std::vector<uint32_t> free_;          // places: connections that are closed
  std::vector<int64_t> due_ns_;         // of each place's exchange
};

}  // namespace headrace::load
