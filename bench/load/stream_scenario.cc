#include "stream_scenario.h"

#include <sys/epoll.h>

#include <cstring>

namespace headrace::load {
namespace {

// A stream's share of a turn: enough to keep calls few, little enough that others come soon.
constexpr size_t kTurnBytes = 1024 * 1024;
// Of `--check sampled`: every 64th read is looked at.
constexpr uint32_t kLookEvery = 64;

uint64_t little_endian(const std::array<uint8_t, 8>& bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i > 0; --i) value = (value << 8) | bytes[i - 1];
  return value;
}

}  // namespace

StreamScenario::StreamScenario(Client& client)
    : Scenario(client), states_(client.options().connections) {}

void StreamScenario::start(int64_t) {
  for (Connection& connection : client_.connections()) begin(connection);
}

void StreamScenario::on_up(Connection& connection, int64_t) {
  states_[connection.index] = {};
  if (client_.has_started()) {
    begin(connection);
  } else {
    client_.settle(connection);
  }
}

void StreamScenario::begin(Connection& connection) {
  // A source waits for a byte, so that all streams begin together.
  static constexpr uint8_t kGo[] = {'\n'};
  if (client_.options().direction == Direction::down) connection.stream.write(kGo);
  go_on(connection, 0);
}

void StreamScenario::on_ready(Connection& connection, uint32_t events) {
  if (client_.has_started()) return go_on(connection, events);
  // Nobody sends before the start: this can only be the end.
  const IoResult result = connection.stream.read(client_.scratch());
  if (!result.blocked()) lose(connection, Failure::reset, "ended before the start");
}

void StreamScenario::go_on(Connection& connection, uint32_t events) {
  State& state = states_[connection.index];
  bool more;
  if (client_.options().direction == Direction::down) {
    more = receive(connection, state);
  } else {
    const bool told = (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
    more = (!told || receive_reports(connection, state)) && send(connection, state);
  }
  if (more && !state.is_queued) {
    state.is_queued = true;
    again_.push_back(connection.index);
  }
}

int64_t StreamScenario::on_turn(int64_t now) {
  std::vector<uint32_t> queued;
  queued.swap(again_);
  for (const uint32_t index : queued) {
    states_[index].is_queued = false;
    Connection& connection = client_.connections()[index];
    if (connection.phase == Connection::Phase::up) go_on(connection, 0);
  }
  return again_.empty() ? kNever : now;
}

// A share of a turn up; whether the stream has more to send at once.
bool StreamScenario::send(Connection& connection, State& state) {
  size_t left = kTurnBytes;
  while (left > 0) {
    const IoResult sent =
        connection.stream.write_pattern(client_.pattern(), state.sent_bytes, left);
    if (!sent.moved()) return false;  // full, or broken: reading the reports tells which
    state.sent_bytes += sent.bytes;
    left -= sent.bytes;
  }
  return true;
}

// The sink's counts of what it has; false when the connection is lost.
bool StreamScenario::receive_reports(Connection& connection, State& state) {
  while (true) {
    const IoResult got =
        connection.stream.read(std::span(state.report).subspan(state.report_bytes));
    if (got.blocked()) return true;
    if (!got.moved()) {
      lose(connection, Failure::cut,
           got.os_errno != 0 ? std::strerror(got.os_errno) : "stream ended");
      return false;
    }
    state.report_bytes += got.bytes;
    if (state.report_bytes < state.report.size()) continue;
    state.report_bytes = 0;
    const uint64_t bytes = little_endian(state.report);
    if (bytes > state.sent_bytes) {
      lose(connection, Failure::wrong, "the sink has more than was sent");
      return false;
    }
    arrived(state, bytes, now_ns());
  }
}

IoResult StreamScenario::read_some(Connection& connection, State& state, bool& right) {
  const Check check = client_.options().check;
  const bool looks =
      check == Check::full || (check == Check::sampled && state.reads % kLookEvery == 0);
  ++state.reads;
  if (!looks) return connection.stream.discard(kTurnBytes);
  const IoResult got = connection.stream.read(client_.scratch());
  if (got.moved()) {
    right = client_.pattern().matches(state.arrived.bytes, client_.scratch().first(got.bytes));
  }
  return got;
}

// A share of a turn down; whether there may be more at once.
bool StreamScenario::receive(Connection& connection, State& state) {
  size_t moved = 0;
  while (moved < kTurnBytes) {
    bool right = true;
    const IoResult got = read_some(connection, state, right);
    if (got.blocked()) return false;
    if (!got.moved()) {
      lose(connection, Failure::cut,
           got.os_errno != 0 ? std::strerror(got.os_errno) : "stream ended");
      return false;
    }
    if (!right) {
      lose(connection, Failure::wrong,
           "other content near byte " + std::to_string(state.arrived.bytes));
      return false;
    }
    arrived(state, state.arrived.bytes + got.bytes, now_ns());
    moved += got.bytes;
  }
  return true;
}

void StreamScenario::arrived(State& state, uint64_t bytes, int64_t now) {
  state.arrived = {now, bytes};
  if (!state.in_window && client_.meter().in_window(now)) {
    state.in_window = true;
    state.window_begin = state.arrived;
  }
}

void StreamScenario::on_window_begin(int64_t now) {
  const bool is_down = client_.options().direction == Direction::down;
  for (State& state : states_) {
    // Up, the first report within the window begins it.
    state.in_window = is_down;
    state.window_begin = {now, state.arrived.bytes};
    state.window_began_ns = now;
    state.window_sent_bytes = state.sent_bytes;
  }
}

// Down, what is here is known at any time. Up, the rate is taken between the first and the last
// report within the measured time, each stream for itself: reports come seldom but are exact. A
// proxy that holds them back as long as it is fed, and so lets through none, or several at once, is
// taken at what it took from us; its buffers were full at the beginning as they are at the end.
void StreamScenario::on_window_end(int64_t now) {
  const bool is_down = client_.options().direction == Direction::down;
  double bits_per_second = 0;
  for (const State& state : states_) {
    uint64_t bytes = state.arrived.bytes - state.window_begin.bytes;
    int64_t time_ns = (is_down ? now : state.arrived.when_ns) - state.window_begin.when_ns;
    const bool is_new = state.window_began_ns == 0;  // begun within the measured time
    const int64_t window_ns = now - state.window_began_ns;
    if (!is_down && (!state.in_window || (!is_new && time_ns < window_ns / 2))) {
      if (is_new) continue;  // nothing is known of it yet
      bytes = state.sent_bytes - state.window_sent_bytes;
      time_ns = window_ns;
    }
    client_.meter().moved(bytes);
    if (time_ns > 0) bits_per_second += 8.0 * static_cast<double>(bytes) / to_seconds(time_ns);
  }
  client_.meter().set_bit_rate(bits_per_second);
}

void StreamScenario::on_timeout(Connection& connection, int64_t) {
  lose(connection, Failure::timeout, "timeout: stream");
}

void StreamScenario::lose(Connection& connection, Failure failure, const std::string& reason) {
  client_.fail(connection, failure, reason);
  client_.open_later(connection, now_ns());
}

}  // namespace headrace::load
