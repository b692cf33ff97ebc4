// Connections that rest: held after a number of exchanges each, until standard input says enough.
// Those that end meanwhile count as reset and are made anew, so that the number held is kept.
#pragma once

#include "http_scenario.h"

namespace headrace::load {

class IdleScenario final : public HttpScenario {
 public:
  explicit IdleScenario(Client& client);

  bool is_timed() const override { return false; }
  void start(int64_t) override {}
  void on_input() override;

 private:
  void on_fresh(Connection& connection, int64_t now_ns) override;
  void on_answer(Connection& connection, bool can_be_asked, int64_t now_ns) override;
  void on_gone(Connection& connection, int64_t now_ns) override;
  void on_lost(Connection& connection, int64_t now_ns) override;
  void go_on(Connection& connection, int64_t now_ns);
};

}  // namespace headrace::load
