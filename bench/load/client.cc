#include "client.h"

#include <signal.h>
#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace headrace::load {
namespace {

constexpr size_t kScratchBytes = 128 * 1024;
constexpr int kEventsPerWait = 512;
constexpr int64_t kReopenDelayNs = 100'000'000;
constexpr int64_t kScanLeastNs = 10'000'000;
constexpr int64_t kScanMostNs = 500'000'000;
// Descriptors that are not connections: standard ones, epoll, the pattern, libraries.
constexpr size_t kOtherDescriptors = 16;

volatile sig_atomic_t stop_asked = 0;

void ask_stop(int) {
  stop_asked = 1;
}

void catch_signals() {
  struct sigaction action {};
  action.sa_handler = ask_stop;
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGINT, &action, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
}

std::string failure_text(const IoResult& result, const char* where) {
  const char* how = result.kind == IoResult::Kind::ended ? "ended"
                    : result.os_errno != 0               ? std::strerror(result.os_errno)
                                                         : "TLS failed";
  return std::string(where) + ": " + how;
}

}  // namespace

Client::Client(const ClientOptions& options)
    : options_(options),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      scratch_(kScratchBytes),
      connections_(options.connections),
      scenario_(make_scenario(*this, options_)) {
  for (uint32_t i = 0; i < options_.connections; ++i) connections_[i].index = i;
}

Client::~Client() = default;

int Client::run() {
  catch_signals();
  const size_t descriptors = raise_descriptor_limit();
  if (options_.connections + kOtherDescriptors > descriptors) {
    std::fprintf(stderr,
                 "headrace-load client: %u connections need more than the %zu descriptors "
                 "a process may have here\n",
                 options_.connections, descriptors);
    return 1;
  }
  if (options_.tls) {
    tls_ = TlsContext::for_client(options_.tls_options);
    if (!tls_) return 1;
  }
  watch_input();
  stage_began_ns_ = now_ns();
  if (scenario_->holds_connections()) {
    unopened_ = options_.connections;
  } else {
    start(stage_began_ns_);
  }
  while (stage_ != Stage::over) turn();
  std::printf("%s\n", meter_.report(options_).text().c_str());
  return failed_ ? 1 : 0;
}

// Files and /dev/null cannot be polled: they have ended from the start.
void Client::watch_input() {
  if (scenario_->is_timed()) return;
  epoll_event event{};
  event.events = EPOLLIN | EPOLLET;
  event.data.ptr = nullptr;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, STDIN_FILENO, &event) != 0) scenario_->on_input();
}

void Client::turn() {
  const int64_t now = now_ns();
  move_stage(now);
  if (stage_ == Stage::over) return;
  open_more(now);
  int64_t until = std::min(next_stage_ns(), check_timeouts(now));
  until = std::min(until, reopen_due(now));
  until = std::min(until, scenario_->on_turn(now));
  wait(until);
}

void Client::wait(int64_t until_ns) {
  std::array<epoll_event, kEventsPerWait> events;
  const int64_t left = std::max<int64_t>(0, until_ns - now_ns());
  const timespec timeout{left / kNanosPerSecond, left % kNanosPerSecond};
  const int count = ::epoll_pwait2(epoll_.get(), events.data(), kEventsPerWait, &timeout, nullptr);
  for (int i = 0; i < count; ++i) {
    if (events[i].data.ptr == nullptr) {
      scenario_->on_input();
    } else {
      on_event(*static_cast<Connection*>(events[i].data.ptr), events[i].events);
    }
  }
}

// Stages

int64_t Client::next_stage_ns() const {
  switch (stage_) {
    case Stage::establishing:
      return stage_began_ns_ + to_ns(options_.establish_seconds);
    case Stage::warming:
      return meter_.begin_ns();
    case Stage::measuring:
      return meter_.end_ns();
    default:
      return stage_began_ns_ + to_ns(options_.timeout_seconds);
  }
}

void Client::move_stage(int64_t now) {
  const bool cut = stop_asked != 0 || finish_asked_;
  switch (stage_) {
    case Stage::establishing:
      if (settled_ == options_.connections) {
        std::fprintf(stderr, "event established connections=%u seconds=%.3f\n", settled_,
                     to_seconds(now - stage_began_ns_));
        start(now);
      } else if (stop_asked != 0 || now >= next_stage_ns()) {
        std::fprintf(stderr, "headrace-load client: only %u of %u connections stand\n", settled_,
                     options_.connections);
        failed_ = true;
        stage_ = Stage::over;
      }
      break;
    case Stage::warming:
      if (now >= meter_.begin_ns()) {
        begin_window(now);
      } else if (cut) {
        stage_ = Stage::over;
      }
      break;
    case Stage::measuring:
      if (cut || now >= meter_.end_ns()) end_window(now);
      break;
    case Stage::draining:
      if (cut || scenario_->is_drained() || now >= next_stage_ns()) stage_ = Stage::over;
      break;
    case Stage::over:
      break;
  }
}

void Client::start(int64_t now) {
  stage_ = Stage::warming;
  const int64_t begin = scenario_->is_timed() ? now + to_ns(options_.warmup_seconds) : now;
  meter_.plan(begin, scenario_->is_timed() ? begin + to_ns(options_.seconds) : kNever);
  scenario_->start(now);
}

void Client::begin_window(int64_t now) {
  stage_ = Stage::measuring;
  meter_.begin();
  scenario_->on_window_begin(now);
  std::fputs("event measuring\n", stderr);
}

void Client::end_window(int64_t now) {
  meter_.end(now);
  scenario_->on_window_end(now);
  std::fputs("event measured\n", stderr);
  finish_asked_ = false;
  stop_asked = 0;
  stage_ = Stage::draining;
  stage_began_ns_ = now;
  if (scenario_->is_drained()) stage_ = Stage::over;
}

// Connections

void Client::open_more(int64_t now) {
  while (unopened_ > 0 && under_way_ < options_.connecting) {
    open(connections_[options_.connections - unopened_--], now);
  }
}

void Client::open(Connection& connection, int64_t now) {
  const Address& to = options_.connect[next_address_];
  next_address_ = (next_address_ + 1) % options_.connect.size();
  const Address* from = options_.source ? &options_.source->next() : nullptr;
  connection.opened_ns = now;
  connection.waiting_since_ns = now;
  connection.phase = Connection::Phase::connecting;
  ++under_way_;
  UniqueFd fd = start_connect(to, from);
  if (!fd)
    return fail_setup(connection, Failure::connect,
                      std::string("connect: ") + std::strerror(errno));
  UniqueSsl ssl = tls_ ? tls_->start(fd.get()) : nullptr;
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.ptr = &connection;
  const int added = ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd.get(), &event);
  connection.stream.open(std::move(fd), std::move(ssl));
  if (added != 0) fail_setup(connection, Failure::connect, "epoll_ctl");
}

void Client::open_later(Connection& connection, int64_t now) {
  reopening_.push_back({now + kReopenDelayNs, connection.index});
}

int64_t Client::reopen_due(int64_t now) {
  while (!reopening_.empty() && reopening_.front().when_ns <= now) {
    const uint32_t index = reopening_.front().index;
    reopening_.pop_front();
    open(connections_[index], now);
  }
  return reopening_.empty() ? kNever : reopening_.front().when_ns;
}

void Client::close(Connection& connection) {
  const bool in_setup =
      connection.phase != Connection::Phase::closed && connection.phase != Connection::Phase::up;
  if (in_setup) --under_way_;
  if (connection.settled) --settled_;
  connection.settled = false;
  connection.phase = Connection::Phase::closed;
  connection.waiting_since_ns = 0;
  connection.tunnel.reset();
  connection.stream.close();
}

void Client::settle(Connection& connection) {
  if (!connection.settled) ++settled_;
  connection.settled = true;
}

void Client::fail(Connection& connection, Failure failure, const std::string& reason) {
  meter_.failed(failure, reason);
  close(connection);
}

// Timeouts are looked for now and then: at most an eighth of them late, for a walk over all
// connections that costs nothing beside their work.
int64_t Client::check_timeouts(int64_t now) {
  if (now < next_scan_ns_) return next_scan_ns_;
  const int64_t timeout = to_ns(options_.timeout_seconds);
  next_scan_ns_ = now + std::clamp(timeout / 8, kScanLeastNs, kScanMostNs);
  for (Connection& connection : connections_) {
    if (connection.waiting_since_ns == 0 || now - connection.waiting_since_ns < timeout) continue;
    if (connection.phase == Connection::Phase::up) {
      scenario_->on_timeout(connection, now);
    } else {
      fail_setup(connection, Failure::timeout, "timeout: connection not set up");
    }
  }
  return next_scan_ns_;
}

// Set-up: TCP, then TLS, then the tunnel; each step says whether the next may begin.

void Client::on_event(Connection& connection, uint32_t events) {
  if (connection.phase == Connection::Phase::up) {
    scenario_->on_ready(connection, events);
  } else if (connection.phase != Connection::Phase::closed) {
    advance_setup(connection, events);
  }
}

void Client::advance_setup(Connection& connection, uint32_t events) {
  using Phase = Connection::Phase;
  if (connection.phase == Phase::connecting && !advance_connecting(connection, events)) return;
  if (connection.phase == Phase::handshaking && !advance_handshake(connection)) return;
  if (connection.phase == Phase::tunnelling && !advance_tunnel(connection)) return;
  const int64_t now = now_ns();
  connection.phase = Phase::up;
  connection.waiting_since_ns = 0;
  --under_way_;
  meter_.connected(now, connection.stream.is_resumed());
  scenario_->on_up(connection, now);
  // The event that brought it up told of its end as well: there will be no other for that.
  const bool ended = (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
  if (ended && connection.phase == Phase::up) scenario_->on_ready(connection, events);
}

bool Client::advance_connecting(Connection& connection, uint32_t events) {
  if ((events & (EPOLLERR | EPOLLHUP)) != 0) {
    const int outcome = connect_outcome(connection.stream.fd());
    if (outcome != 0) {
      fail_setup(connection, Failure::connect, std::string("connect: ") + std::strerror(outcome));
      return false;
    }
  }
  if ((events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) == 0) return false;
  connection.phase =
      connection.stream.is_tls() ? Connection::Phase::handshaking : Connection::Phase::tunnelling;
  return true;
}

bool Client::advance_handshake(Connection& connection) {
  const IoResult result = connection.stream.handshake();
  if (result.blocked()) return false;
  if (!result.moved()) {
    fail_setup(connection, Failure::connect, failure_text(result, "TLS handshake"));
    return false;
  }
  connection.phase = Connection::Phase::tunnelling;
  return true;
}

bool Client::advance_tunnel(Connection& connection) {
  if (options_.mode == Mode::plain || options_.mode == Mode::http) return true;
  if (!connection.tunnel) {
    const bool socks = options_.mode == Mode::socks5;
    connection.tunnel = std::make_unique<Tunnel>(
        socks ? Tunnel::Kind::socks5 : Tunnel::Kind::connect, options_.target, options_.user);
  }
  Tunnel& tunnel = *connection.tunnel;
  while (true) {
    while (!tunnel.to_send().empty()) {
      const std::string_view out = tunnel.to_send();
      const IoResult sent =
          connection.stream.write({reinterpret_cast<const uint8_t*>(out.data()), out.size()});
      if (!sent.moved()) break;  // full, or broken: reading tells which
      tunnel.sent(sent.bytes);
    }
    const IoResult got = connection.stream.read(scratch().first(tunnel.wanted()));
    if (got.blocked()) return false;
    if (!got.moved()) {
      fail_setup(connection, Failure::connect, failure_text(got, "tunnel"));
      return false;
    }
    switch (tunnel.take(scratch().first(got.bytes))) {
      case Tunnel::State::going_on:
        break;
      case Tunnel::State::open:
        connection.tunnel.reset();
        return true;
      case Tunnel::State::refused:
        fail_setup(connection, Failure::connect, std::string(tunnel.refusal()));
        return false;
    }
  }
}

void Client::fail_setup(Connection& connection, Failure failure, const std::string& reason) {
  fail(connection, failure, reason);
  scenario_->on_setup_failed(connection, failure, now_ns());
}

}  // namespace headrace::load
