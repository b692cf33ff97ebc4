#include "scenario.h"

#include "client.h"
#include "idle_scenario.h"
#include "message_scenario.h"
#include "mix_scenario.h"
#include "rate_scenario.h"
#include "request_scenario.h"
#include "stream_scenario.h"

namespace headrace::load {

void Scenario::on_setup_failed(Connection& connection, Failure, int64_t now_ns) {
  client_.open_later(connection, now_ns);
}

int64_t Scenario::on_turn(int64_t) {
  return kNever;
}

std::unique_ptr<Scenario> make_scenario(Client& client, const ClientOptions& options) {
  switch (options.scenario) {
    case ScenarioKind::request:
      return std::make_unique<RequestScenario>(client);
    case ScenarioKind::stream:
      return std::make_unique<StreamScenario>(client);
    case ScenarioKind::mix:
      return std::make_unique<MixScenario>(client);
    case ScenarioKind::rate:
      return std::make_unique<RateScenario>(client);
    case ScenarioKind::message:
      return std::make_unique<MessageScenario>(client);
    case ScenarioKind::idle:
      break;
  }
  return std::make_unique<IdleScenario>(client);
}

}  // namespace headrace::load
