#include "http_scenario.h"

#include <sys/epoll.h>

#include "random.h"

namespace headrace::load {
namespace {

// Of `--check sampled`: the first exchange of a connection and every 16th after it.
constexpr uint32_t kFullCheckEvery = 16;
constexpr uint32_t kEndEvents = EPOLLRDHUP | EPOLLHUP | EPOLLERR;

}  // namespace

HttpScenario::HttpScenario(Client& client, Loop loop)
    : Scenario(client),
      loop_(loop),
      heads_(client.options()),
      states_(client.options().connections) {}

void HttpScenario::on_up(Connection& connection, int64_t now) {
  State& state = states_[connection.index];
  state.phase = Phase::resting;
  state.exchanges = 0;
  if (state.is_repeat) {
    ask(connection, state.asked, state.since_ns, now);
  } else {
    on_fresh(connection, now);
  }
}

void HttpScenario::on_setup_failed(Connection& connection, Failure failure, int64_t now) {
  State& state = states_[connection.index];
  if (!state.is_repeat) return Scenario::on_setup_failed(connection, failure, now);
  state.is_repeat = false;
  client_.meter().lost(failure, state.since_ns, now, loop_);
  on_lost(connection, now);
}

// An HTTP proxy may end a kept connection whenever no request is under way (RFC 9112
// section 9.3.1), and ours may meet that end half-way. Clients ask once more over a new connection,
// so do we.
bool HttpScenario::may_repeat(const State& state) const {
  const bool was_kept = state.exchanges > 1;
  return client_.options().mode == Mode::http && was_kept && !state.is_repeat &&
         !state.asked.half_close && state.exchange.failure() == Failure::reset;
}

bool HttpScenario::is_checked_in_full(const State& state) const {
  switch (client_.options().check) {
    case Check::full:
      return true;
    case Check::sampled:
      return state.exchanges % kFullCheckEvery == 0;
    default:
      return false;
  }
}

void HttpScenario::on_window_end(int64_t now) {
  if (loop_ == Loop::open) return;  // waits for all that was due
  for (const State& state : states_)
    if (state.phase == Phase::asking) client_.meter().starved(state.since_ns, now);
}

void HttpScenario::ask(Connection& connection, const Ask& what, int64_t since_ns, int64_t now) {
  State& state = states_[connection.index];
  ExchangeSpec spec{what.answer_bytes,       what.body_bytes, 0,
                    client_.options().check, what.last,       what.half_close};
  if (is_checked_in_full(state)) spec.check = Check::full;
  // An offset of its own for each exchange: another client's answer, or a former one, shows.
  // A foreign server's file begins at 0.
  if (client_.options().path.empty()) {
    const uint64_t which = (uint64_t{connection.index} << 32) + state.exchanges;
    spec.offset = splitmix64(client_.options().seed + which) % kPatternPeriodBytes;
  }
  ++state.exchanges;
  state.phase = Phase::asking;
  state.since_ns = since_ns;
  state.asked = what;
  connection.waiting_since_ns = now;
  state.exchange.begin(spec, heads_.make(spec), connection.stream, client_.pattern());
}

void HttpScenario::reopen(Connection& connection, int64_t now) {
  if (states_[connection.index].exchanges > 0) {
    client_.open(connection, now);
  } else {
    client_.open_later(connection, now);
  }
}

void HttpScenario::on_ready(Connection& connection, uint32_t events) {
  State& state = states_[connection.index];
  if (state.phase == Phase::asking) {
    advance(connection, state, events);
  } else if ((events & (EPOLLIN | kEndEvents)) != 0) {
    expect_end(connection, state);
  }
}

void HttpScenario::advance(Connection& connection, State& state, uint32_t events) {
  const bool told_end = (events & kEndEvents) != 0;
  Exchange& exchange = state.exchange;
  switch (exchange.advance(connection.stream, client_.pattern(), client_.scratch(), told_end)) {
    case Exchange::State::waiting:
      return;
    case Exchange::State::failed:
      return fail(connection, state, now_ns());
    case Exchange::State::done:
      break;
  }
  const int64_t now = now_ns();
  state.is_repeat = false;
  client_.meter().completed(state.since_ns, now, exchange.payload_bytes(), loop_);
  const bool can_be_asked = exchange.keep_alive() && !told_end;
  state.phase = can_be_asked ? Phase::resting : Phase::ending;
  // An end that does not come is given up like an answer.
  connection.waiting_since_ns = can_be_asked ? 0 : now;
  on_answer(connection, can_be_asked, now);
  // Without this the end is another event; TLS may hold it already.
  const bool end_is_here = told_end || connection.stream.is_tls();
  if (!can_be_asked && end_is_here) expect_end(connection, state);
}

// Nothing was asked (any more): the end may come, bytes may not. TLS may bring tickets.
void HttpScenario::expect_end(Connection& connection, State& state) {
  const IoResult result = connection.stream.read(client_.scratch());
  if (result.blocked()) return;
  const int64_t now = now_ns();
  if (result.moved()) {
    client_.fail(connection, Failure::wrong, "bytes that nobody asked for");
    return on_gone(connection, now);
  }
  // A reset instead of an end, after all was received: nothing was lost, but it is not in order.
  if (result.kind == IoResult::Kind::failed && state.phase == Phase::ending) {
    client_.meter().failed(Failure::reset, "reset after the answer");
  }
  client_.close(connection);
  on_gone(connection, now);
}

void HttpScenario::on_timeout(Connection& connection, int64_t now) {
  State& state = states_[connection.index];
  if (state.phase == Phase::asking) {
    lose(connection, state, Failure::timeout, "timeout: no answer", now);
  } else {
    client_.fail(connection, Failure::timeout, "timeout: connection not ended after its answer");
    on_gone(connection, now);
  }
}

void HttpScenario::fail(Connection& connection, State& state, int64_t now) {
  if (!may_repeat(state)) {
    return lose(connection, state, state.exchange.failure(), state.exchange.reason(), now);
  }
  state.is_repeat = true;
  client_.meter().repeated();
  client_.close(connection);
  client_.open(connection, now);
}

void HttpScenario::lose(Connection& connection, State& state, Failure failure,
                        const std::string& reason, int64_t now) {
  state.is_repeat = false;
  client_.meter().lost(failure, state.since_ns, now, loop_);
  client_.fail(connection, failure, reason);
  on_lost(connection, now);
}

}  // namespace headrace::load
