#include "mix_scenario.h"

#include <algorithm>

namespace headrace::load {
namespace {

constexpr uint32_t kNotResting = ~uint32_t{0};

}  // namespace

MixScenario::MixScenario(Client& client)
    : HttpScenario(client, client.options().rate > 0 ? Loop::open : Loop::closed),
      plan_(client.options().seed, client.options().half_close_share,
            client.options().think_seconds),
      place_(client.options().connections, kNotResting),
      lives_(client.options().connections) {}

void MixScenario::start(int64_t now) {
  const ClientOptions& options = client_.options();
  if (loop() == Loop::open) {
    schedule_.emplace(options.arrivals, options.rate, now, options.seed);
    return;
  }
  for (uint32_t i = 0; i < options.active; ++i) {
    thinking_until_ns_.push(now + plan_.draw_think_ns());
  }
}

int64_t MixScenario::on_turn(int64_t now) {
  if (!client_.has_started()) return kNever;
  if (client_.is_running()) collect_due(now);
  serve_waiting(now);
  if (!client_.is_running()) return kNever;
  if (schedule_) return schedule_->due_ns();
  return thinking_until_ns_.empty() ? kNever : thinking_until_ns_.top();
}

void MixScenario::collect_due(int64_t now) {
  while (schedule_ && schedule_->due_ns() <= now) {
    client_.meter().scheduled(schedule_->due_ns());
    client_.meter().lagged(schedule_->due_ns(), now);
    waiting_since_ns_.push_back(schedule_->due_ns());
    schedule_->advance();
  }
  // A user that comes back from thinking asks now: only an open loop has a due time to keep.
  while (!thinking_until_ns_.empty() && thinking_until_ns_.top() <= now) {
    waiting_since_ns_.push_back(now);
    thinking_until_ns_.pop();
  }
}

void MixScenario::serve_waiting(int64_t now) {
  while (!waiting_since_ns_.empty() && !resting_.empty()) {
    const int64_t since_ns = waiting_since_ns_.front();
    waiting_since_ns_.pop_front();
    const uint32_t index = resting_[plan_.draw_below(resting_.size())];
    unrest(index);
    Connection& connection = client_.connections()[index];
    const MixExchange exchange = plan_.draw_exchange();
    Ask what{exchange.answer_bytes, exchange.body_bytes};
    what.last = exchanges_of(connection) + 1 >= lives_[index].exchanges;
    what.half_close = what.last && lives_[index].half_close;
    ask(connection, what, since_ns, now);
  }
}

bool MixScenario::is_drained() const {
  return loop() == Loop::closed || client_.meter().all_due_ended();
}

void MixScenario::user_is_done(int64_t now) {
  if (loop() == Loop::closed) thinking_until_ns_.push(now + plan_.draw_think_ns());
}

void MixScenario::rest(Connection& connection) {
  place_[connection.index] = static_cast<uint32_t>(resting_.size());
  resting_.push_back(connection.index);
}

void MixScenario::unrest(uint32_t index) {
  const uint32_t place = place_[index];
  if (place == kNotResting) return;
  resting_[place] = resting_.back();
  place_[resting_[place]] = place;
  resting_.pop_back();
  place_[index] = kNotResting;
}

void MixScenario::on_fresh(Connection& connection, int64_t) {
  lives_[connection.index] = plan_.draw_life();
  rest(connection);
  if (!client_.has_started()) client_.settle(connection);
}

void MixScenario::on_answer(Connection& connection, bool can_be_asked, int64_t now) {
  if (can_be_asked) rest(connection);
  user_is_done(now);
}

void MixScenario::on_gone(Connection& connection, int64_t now) {
  unrest(connection.index);
  reopen(connection, now);
}

void MixScenario::on_lost(Connection& connection, int64_t now) {
  user_is_done(now);
  client_.open_later(connection, now);
}

}  // namespace headrace::load
