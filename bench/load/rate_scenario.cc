#include "rate_scenario.h"

namespace headrace::load {

RateScenario::RateScenario(Client& client)
    : HttpScenario(client, Loop::open),
      schedule_(client.options().arrivals, client.options().rate, 0, client.options().seed),
      due_ns_(client.options().connections) {
  for (uint32_t i = client.options().connections; i > 0; --i) free_.push_back(i - 1);
}

void RateScenario::start(int64_t now) {
  schedule_ =
      Schedule(client_.options().arrivals, client_.options().rate, now, client_.options().seed);
}

int64_t RateScenario::on_turn(int64_t now) {
  while (client_.is_running() && schedule_.due_ns() <= now) {
    client_.meter().scheduled(schedule_.due_ns());
    client_.meter().lagged(schedule_.due_ns(), now);
    waiting_due_ns_.push_back(schedule_.due_ns());
    schedule_.advance();
  }
  while (!waiting_due_ns_.empty() && !free_.empty()) {
    const uint32_t place = free_.back();
    free_.pop_back();
    due_ns_[place] = waiting_due_ns_.front();
    waiting_due_ns_.pop_front();
    client_.open(client_.connections()[place], now);
  }
  return client_.is_running() ? schedule_.due_ns() : kNever;
}

bool RateScenario::is_drained() const {
  return client_.meter().all_due_ended();
}

void RateScenario::on_setup_failed(Connection& connection, Failure failure, int64_t now) {
  client_.meter().lost(failure, due_ns_[connection.index], now, loop());
  free_.push_back(connection.index);
}

void RateScenario::on_fresh(Connection& connection, int64_t now) {
  Ask what{client_.options().answer_bytes, client_.options().body_bytes};
  what.last = true;
  ask(connection, what, due_ns_[connection.index], now);
}

void RateScenario::on_gone(Connection& connection, int64_t) {
  free_.push_back(connection.index);
}

void RateScenario::on_lost(Connection& connection, int64_t) {
  free_.push_back(connection.index);
}

}  // namespace headrace::load
