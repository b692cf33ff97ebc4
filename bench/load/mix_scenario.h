// Web-like load over many held connections. Closed loop: a number of users, each asks over a
// resting connection, has its answer, thinks, asks over another. Open loop: exchanges are due at a
// fixed rate and take a resting connection each; their latency counts from when they were due.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <queue>
#include <vector>

#include "http_scenario.h"
#include "mix_plan.h"
#include "schedule.h"

namespace headrace::load {

class MixScenario final : public HttpScenario {
 public:
  explicit MixScenario(Client& client);

  void start(int64_t now_ns) override;
  int64_t on_turn(int64_t now_ns) override;
  bool is_drained() const override;

 private:
  void on_fresh(Connection& connection, int64_t now_ns) override;
  void on_answer(Connection& connection, bool can_be_asked, int64_t now_ns) override;
  void on_gone(Connection& connection, int64_t now_ns) override;
  void on_lost(Connection& connection, int64_t now_ns) override;

  // Where connections rest until somebody is given one at random.
  void rest(Connection& connection);
  void unrest(uint32_t index);
  void collect_due(int64_t now_ns);
  void serve_waiting(int64_t now_ns);
  void user_is_done(int64_t now_ns);

  MixPlan plan_;
  std::optional<Schedule> schedule_;  // open loop
  // Closed loop: when each thinking user comes back, the next one first.
  std::priority_queue<int64_t, std::vector<int64_t>, std::greater<>> thinking_until_ns_;
  std::deque<int64_t> waiting_since_ns_;  // exchanges that have no connection yet
  std::vector<uint32_t> resting_;
  std::vector<uint32_t> place_;  // of each connection in resting_, or kNotResting
  std::vector<MixLife> lives_;
};

}  // namespace headrace::load
