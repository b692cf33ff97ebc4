#include "idle_scenario.h"

namespace headrace::load {

IdleScenario::IdleScenario(Client& client) : HttpScenario(client, Loop::closed) {}

void IdleScenario::on_input() {
  client_.finish();
}

void IdleScenario::on_fresh(Connection& connection, int64_t now) {
  go_on(connection, now);
}

void IdleScenario::go_on(Connection& connection, int64_t now) {
  const ClientOptions& options = client_.options();
  if (exchanges_of(connection) < options.exchanges_before_idle) {
    ask(connection, Ask{options.answer_bytes, options.body_bytes}, now, now);
  } else {
    client_.settle(connection);
  }
}

void IdleScenario::on_answer(Connection& connection, bool can_be_asked, int64_t now) {
  if (can_be_asked) go_on(connection, now);
}

void IdleScenario::on_gone(Connection& connection, int64_t now) {
  client_.meter().failed(Failure::reset, "a connection at rest was ended");
  client_.open_later(connection, now);
}

void IdleScenario::on_lost(Connection& connection, int64_t now) {
  client_.open_later(connection, now);
}

}  // namespace headrace::load
