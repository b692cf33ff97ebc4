#include "message_scenario.h"

#include <sys/epoll.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "random.h"

namespace headrace::load {

MessageScenario::MessageScenario(Client& client)
    : Scenario(client),
      size_(client.options().message_bytes),
      states_(client.options().connections) {}

void MessageScenario::start(int64_t now) {
  start_ns_ = now;
}

// Message `message` of its connection; the connection's first one has number 0.
int64_t MessageScenario::due_of(const Connection& connection, uint64_t message) const {
  const uint64_t round = states_[connection.index].first_round + message;
  const double share = static_cast<double>(connection.index) / client_.options().connections;
  const double intervals = static_cast<double>(round) + share;
  return start_ns_ + std::llround(intervals * client_.options().interval_seconds * 1e9);
}

uint64_t MessageScenario::offset_of(const Connection& connection) const {
  return splitmix64(client_.options().seed + connection.index) % kPatternPeriodBytes;
}

void MessageScenario::on_up(Connection& connection, int64_t) {
  states_[connection.index] = {};
  client_.settle(connection);
}

int64_t MessageScenario::on_turn(int64_t now) {
  if (!client_.is_running()) return kNever;
  const uint32_t connections = client_.options().connections;
  while (true) {
    Connection& connection = client_.connections()[next_message_ % connections];
    State& state = states_[connection.index];
    const uint64_t round = next_message_ / connections;
    const uint64_t message = state.due_bytes / size_;
    if (message == 0) state.first_round = round;
    const int64_t due_ns = due_of(connection, message);
    if (due_ns > now) return due_ns;
    ++next_message_;
    client_.meter().scheduled(due_ns);
    client_.meter().lagged(due_ns, now);
    // Without a connection it stays unfinished; the loss of the connection has been counted.
    if (connection.phase != Connection::Phase::up) continue;
    state.due_bytes += size_;
    if (connection.waiting_since_ns == 0) connection.waiting_since_ns = now;
    send_due(connection, state);
  }
}

void MessageScenario::send_due(Connection& connection, State& state) {
  while (state.sent_bytes < state.due_bytes) {
    const uint64_t position = offset_of(connection) + state.sent_bytes;
    const size_t length = std::min(state.due_bytes - state.sent_bytes, kPatternPeriodBytes);
    const IoResult sent =
        connection.stream.write(std::span(client_.pattern().at(position), length));
    if (!sent.moved()) return;  // full, or broken: reading tells which
    state.sent_bytes += sent.bytes;
  }
}

void MessageScenario::on_ready(Connection& connection, uint32_t) {
  State& state = states_[connection.index];
  send_due(connection, state);
  while (receive(connection, state)) {
  }
}

// One read; whether another makes sense.
bool MessageScenario::receive(Connection& connection, State& state) {
  const IoResult got = connection.stream.read(client_.scratch());
  if (got.blocked()) return false;
  if (!got.moved()) {
    lose(connection, Failure::reset, got.os_errno != 0 ? std::strerror(got.os_errno) : "ended");
    return false;
  }
  const uint64_t position = offset_of(connection) + state.received_bytes;
  const bool right = state.received_bytes + got.bytes <= state.sent_bytes &&
                     (client_.options().check == Check::length ||
                      client_.pattern().matches(position, client_.scratch().first(got.bytes)));
  if (!right) {
    lose(connection, Failure::wrong, "other bytes than were sent came back");
    return false;
  }
  const int64_t now = now_ns();
  const uint64_t ended = (state.received_bytes + got.bytes) / size_;
  for (uint64_t message = state.received_bytes / size_; message < ended; ++message) {
    client_.meter().completed(due_of(connection, message), now, 2 * size_, Loop::open);
  }
  state.received_bytes += got.bytes;
  connection.waiting_since_ns = state.received_bytes == state.due_bytes ? 0 : now;
  return true;
}

void MessageScenario::on_timeout(Connection& connection, int64_t) {
  lose(connection, Failure::timeout, "timeout: message did not come back");
}

// What is on its way is lost with the connection.
void MessageScenario::lose(Connection& connection, Failure failure, const std::string& reason) {
  const int64_t now = now_ns();
  const State& state = states_[connection.index];
  for (uint64_t message = state.received_bytes / size_; message < state.due_bytes / size_;
       ++message) {
    client_.meter().lost(failure, due_of(connection, message), now, Loop::open);
  }
  client_.fail(connection, failure, reason);
  client_.open_later(connection, now);
}

}  // namespace headrace::load
