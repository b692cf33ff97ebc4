#include "request_scenario.h"

namespace headrace::load {

RequestScenario::RequestScenario(Client& client) : HttpScenario(client, Loop::closed) {}

void RequestScenario::start(int64_t now) {
  for (Connection& connection : client_.connections()) ask_again(connection, now, now);
}

void RequestScenario::on_fresh(Connection& connection, int64_t now) {
  if (!client_.has_started()) return client_.settle(connection);
  // Where each request has a connection of its own, making it is part of the request's time.
  const bool own = client_.options().requests_per_connection == 1;
  ask_again(connection, own ? connection.opened_ns : now, now);
}

void RequestScenario::ask_again(Connection& connection, int64_t since_ns, int64_t now) {
  const ClientOptions& options = client_.options();
  Ask what{options.answer_bytes, options.body_bytes};
  what.last = exchanges_of(connection) + 1 == options.requests_per_connection;
  ask(connection, what, since_ns, now);
}

void RequestScenario::on_answer(Connection& connection, bool can_be_asked, int64_t now) {
  if (can_be_asked) ask_again(connection, now, now);
}

void RequestScenario::on_gone(Connection& connection, int64_t now) {
  reopen(connection, now);
}

void RequestScenario::on_lost(Connection& connection, int64_t now) {
  client_.open_later(connection, now);
}

}  // namespace headrace::load
