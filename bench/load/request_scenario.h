// Closed loop: each connection asks again as soon as it has its answer.
#pragma once

#include "http_scenario.h"

namespace headrace::load {

class RequestScenario final : public HttpScenario {
 public:
  explicit RequestScenario(Client& client);

  void start(int64_t now_ns) override;

 private:
  void on_fresh(Connection& connection, int64_t now_ns) override;
  void on_answer(Connection& connection, bool can_be_asked, int64_t now_ns) override;
  void on_gone(Connection& connection, int64_t now_ns) override;
  void on_lost(Connection& connection, int64_t now_ns) override;
  void ask_again(Connection& connection, int64_t since_ns, int64_t now_ns);
};

}  // namespace headrace::load
