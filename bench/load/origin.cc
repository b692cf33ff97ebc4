#include "origin.h"

#include <signal.h>
#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "clock.h"
#include "json.h"
#include "meter.h"

namespace headrace::load {
namespace {

constexpr size_t kScratchBytes = 128 * 1024;
constexpr int kEventsPerWait = 512;
constexpr int kAcceptsPerTurn = 64;
constexpr int64_t kTickNs = 100'000'000;

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

std::optional<OriginListen> parse_listen(std::string_view text) {
  static constexpr std::pair<std::string_view, Role> kRoles[] = {
      {"http", Role::http}, {"sink", Role::sink}, {"source", Role::source}, {"echo", Role::echo}};
  constexpr std::string_view kTls = "+tls";
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view word = text.substr(0, colon);
  const bool tls = word.ends_with(kTls);
  if (tls) word.remove_suffix(kTls.size());
  const std::optional<Address> at = parse_address(text.substr(colon + 1));
  for (const auto& [name, role] : kRoles) {
    if (name == word && at) return OriginListen{role, std::string(text.substr(0, colon)), tls, *at};
  }
  return std::nullopt;
}

}  // namespace

std::optional<OriginOptions> read_origin_options(Args args) {
  OriginOptions options;
  bool wants_tls = false;
  for (const std::string_view text : args.take_all("listen")) {
    if (std::optional<OriginListen> listen = parse_listen(text)) {
      wants_tls = wants_tls || listen->tls;
      options.listen.push_back(std::move(*listen));
    } else {
      args.fault("--listen: not ROLE:HOST:PORT: " + std::string(text));
    }
  }
  if (options.listen.empty()) args.fault("--listen is missing");
  options.cert_file = args.take("cert").value_or("");
  options.key_file = args.take("key").value_or("");
  if (wants_tls && (options.cert_file.empty() || options.key_file.empty())) {
    args.fault("+tls needs --cert and --key");
  }
  options.until_stdin_ends = args.take_flag("until-stdin-ends");
  if (const std::optional<std::string> fault = args.finish()) {
    std::fprintf(stderr, "headrace-load origin: %s\n", fault->c_str());
    return std::nullopt;
  }
  return options;
}

Origin::Origin(const OriginOptions& options)
    : options_(options),
      scratch_(kScratchBytes),
      shared_{pattern_, {}, scratch_},
      epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}

Origin::~Origin() = default;

int Origin::run() {
  catch_signals();
  raise_descriptor_limit();
  if (!options_.cert_file.empty()) {
    tls_ = TlsContext::for_server(options_.cert_file, options_.key_file);
    if (!tls_) return 1;
  }
  if (!listen_all() || !watch_input()) return 1;
  next_tick_ns_ = now_ns() + kTickNs;
  while (!is_over_ && stop_asked == 0) turn();
  print_counts();
  return 0;
}

bool Origin::listen_all() {
  listeners_.reserve(options_.listen.size());  // events point into it
  for (const OriginListen& wanted : options_.listen) {
    Address bound;
    UniqueFd fd = listen_on(wanted.at, bound);
    if (!fd) {
      std::fprintf(stderr, "headrace-load origin: cannot listen on %s: %s\n",
                   wanted.at.text().c_str(), std::strerror(errno));
      return false;
    }
    std::fprintf(stderr, "listening %s %s\n", wanted.role_name.c_str(), bound.text().c_str());
    listeners_.push_back({std::move(fd), wanted.role, wanted.tls});
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = &listeners_.back();
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, listeners_.back().fd.get(), &event) != 0) {
      std::perror("headrace-load origin: epoll_ctl");
      return false;
    }
  }
  return true;
}

bool Origin::watch_input() {
  if (!options_.until_stdin_ends) return true;
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = nullptr;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, STDIN_FILENO, &event) == 0) return true;
  std::perror("headrace-load origin: standard input cannot be watched");
  return false;
}

void Origin::turn() {
  std::array<epoll_event, kEventsPerWait> events;
  const int64_t left_ns = again_.empty() ? std::max<int64_t>(0, next_tick_ns_ - now_ns()) : 0;
  const timespec timeout{left_ns / kNanosPerSecond, left_ns % kNanosPerSecond};
  const int count = ::epoll_pwait2(epoll_.get(), events.data(), kEventsPerWait, &timeout, nullptr);
  for (int i = 0; i < count; ++i) {
    auto* listener = std::find_if(listeners_.data(), listeners_.data() + listeners_.size(),
                                  [&](Listener& known) { return &known == events[i].data.ptr; });
    if (events[i].data.ptr == nullptr) {
      char drain[256];
      is_over_ = ::read(STDIN_FILENO, drain, sizeof(drain)) <= 0;
    } else if (listener != listeners_.data() + listeners_.size()) {
      accept_batch(*listener);
    } else {
      serve(*static_cast<Served*>(events[i].data.ptr), events[i].events);
    }
  }
  std::vector<Served*> queued;
  queued.swap(again_);
  for (Served*& served : queued) {
    if (served == nullptr) continue;
    served->is_queued = false;
    serve(*served, 0);
  }
  const int64_t now = now_ns();
  if (now >= next_tick_ns_) tick(now);
}

void Origin::accept_batch(Listener& listener) {
  for (int i = 0; i < kAcceptsPerTurn; ++i) {
    UniqueFd fd(::accept4(listener.fd.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (fd) {
      admit(std::move(fd), listener);
    } else {
      // Without descriptors the others go on; the next tick tries again.
      if (errno == EMFILE || errno == ENFILE) set_listening(false);
      return;
    }
  }
}

void Origin::admit(UniqueFd fd, const Listener& listener) {
  UniqueSsl ssl = listener.tls ? tls_->start(fd.get()) : nullptr;
  if (listener.tls && !ssl) return;
  ++shared_.counts.connections;
  std::unique_ptr<Served> made = make_served(listener.role, shared_, std::move(fd), std::move(ssl));
  Served* served = made.get();
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.ptr = served;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, served->fd(), &event) != 0) return;
  if (served->wants_ticks()) ticking_.insert(served);
  served_.emplace(served, std::move(made));
}

void Origin::serve(Served& served, uint32_t events) {
  settle(served, served.on_ready(events));
}

// After this the connection may be gone. Its socket is in no event of this turn any more: each has
// one event per turn, and this was it.
void Origin::settle(Served& served, Served::Outcome outcome) {
  if (outcome == Served::Outcome::more && !served.is_queued) {
    served.is_queued = true;
    again_.push_back(&served);
  }
  if (outcome != Served::Outcome::over) return;
  std::replace(again_.begin(), again_.end(), &served, static_cast<Served*>(nullptr));
  ticking_.erase(&served);
  served_.erase(&served);
}

void Origin::tick(int64_t now) {
  next_tick_ns_ = now + kTickNs;
  if (!is_listening_) set_listening(true);
  const std::vector<Served*> ticking(ticking_.begin(), ticking_.end());
  for (Served* served : ticking) settle(*served, served->on_tick());
}

void Origin::set_listening(bool on) {
  is_listening_ = on;
  for (Listener& listener : listeners_) {
    epoll_event event{};
    event.events = on ? uint32_t{EPOLLIN} : 0;
    event.data.ptr = &listener;
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, listener.fd.get(), &event);
  }
}

void Origin::print_counts() const {
  const OriginCounts& counts = shared_.counts;
  const CpuTime cpu = CpuTime::now();
  JsonObject out;
  out.add("connections", counts.connections);
  out.add("requests", counts.requests);
  out.add("bytes_in", counts.bytes_in);
  out.add("bytes_out", counts.bytes_out);
  out.add("wrong_bodies", counts.wrong_bodies);
  out.add("bad_requests", counts.bad_requests);
  out.add("cpu_user_s", cpu.user_s);
  out.add("cpu_sys_s", cpu.sys_s);
  out.add("cpu_s", cpu.user_s + cpu.sys_s);
  std::printf("%s\n", out.text().c_str());
}

}  // namespace headrace::load
