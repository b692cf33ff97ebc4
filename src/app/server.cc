#include "app/server.h"

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "app/check_settings.h"
#include "app/host.h"
#include "app/service_arguments.h"
#include "base/log_line.h"
#include "net/socket.h"
#include "session/session.h"

namespace headrace::app {
namespace {

constexpr uint64_t kSignalPollMilliseconds = 50;

void use_tls(session::Listener& listener, size_t worker, const ListenerTls& tls) {
  listener.set_tls(worker, tls.from_clients);
  listener.set_to_tls(worker, tls.to_destination);
}

bool complain(const std::string& text) {
  std::fprintf(stderr, "headrace: %s\n", text.c_str());
  return false;
}

sigset_t handled_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) sigaddset(&set, signal);
  return set;
}

// Where a listener can be reached, for the guards: a wildcard is all of both families.
access::Listener as_access_listener(const net::ListenAddress& address) {
  const uint8_t any6[16] = {};
  IpAddress ip = address.all_addresses ? IpAddress::v6(any6) : address.endpoint.address;
  return {ip, address.endpoint.port};
}

void append_addresses(const std::vector<ListeningSockets>& from,
                      std::vector<access::Listener>& to) {
  for (const ListeningSockets& sockets : from)
    if (!sockets.address.is_unix()) to.push_back(as_access_listener(sockets.address));
}

}  // namespace

Server::Server(const config::Settings& settings)
    : settings_(settings),
      worker_count_(settings.workers == 0 ? usable_cpus() : settings.workers),
      log_(settings.log_level, worker_count_ + 1) {}

Server::~Server() = default;

int Server::run() {
  sigset_t signals = handled_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // before any thread, so that only we take them
  signal(SIGPIPE, SIG_IGN);
  uint64_t descriptors = raise_descriptor_limit();
  if (!open_sockets() || !guard_against_open_proxy() || !make_listeners() || !make_tls() ||
      !make_workers())
    return EXIT_FAILURE;
  log_.start();
  LogLine line;
  line.add("event", "started").add("version", HEADRACE_VERSION).add("workers", worker_count_);
  line.add("descriptors", descriptors);
  log_.sink(worker_count_).write(LogLevel::info, line.text());
  for (TlsContexts& tls : tls_) tls.log_warnings(log_.sink(worker_count_));
  announce();
  for (auto& worker : workers_) worker->start();
  wait_for_signal();
  drain();
  log_.stop();
  return EXIT_SUCCESS;
}

bool Server::open_sockets() {
  for (const config::Listener& listener : settings_.listeners) {
    std::vector<ListeningSockets>& sockets = sockets_.emplace_back();
    for (const std::string& text : listener.listen) {
      std::optional<net::ListenAddress> address = net::ListenAddress::parse(text);
      if (!address)
        return complain("cannot listen on " + text +
                        ": not HOST:PORT, :PORT, [V6]:PORT or unix:PATH");
      Result<ListeningSockets> opened = open_listening(*address, worker_count_);
      if (!opened)
        return complain("cannot listen on " + text + ": " + strerror(opened.error().os_errno));
      sockets.push_back(std::move(*opened));
    }
  }
  return true;
}

bool Server::guard_against_open_proxy() const {
  for (size_t i = 0; i < settings_.listeners.size(); ++i) {
    const config::Listener& listener = settings_.listeners[i];
    std::vector<access::Listener> reachable;
    append_addresses(sockets_[i], reachable);
    if (std::optional<std::string> fault = open_proxy_fault(listener, reachable))
      return complain(*fault);
  }
  return true;
}

bool Server::make_listeners() {
  std::vector<access::Listener> all;
  for (const std::vector<ListeningSockets>& sockets : sockets_) append_addresses(sockets, all);
  std::vector<IpAddress> host_addresses = interface_addresses();
  for (size_t i = 0; i < settings_.listeners.size(); ++i) {
    const config::Listener& listener = settings_.listeners[i];
    session::ListenerOptions options = listener.session;
    if (listener.access_log != "off") {
      Result<size_t> opened = log_.open_access_log(listener.access_log);
      if (!opened) {
        int os_errno = opened.error().os_errno;
        return complain("cannot open the access log " + listener.access_log + ": " +
                        (os_errno == ENXIO ? "nobody reads it" : strerror(os_errno)));
      }
      options.access_log = *opened;
    }
    // A relay may lead to another listener of ours, such as TLS in front of a proxy; not to itself.
    std::vector<access::Listener> own;
    if (options.protocol == session::Protocol::relay)
      append_addresses(sockets_[i], own);
    else
      own = all;
    access::Policy policy(listener.access, access::OwnListeners(std::move(own), host_addresses));
    listeners_.push_back(
        std::make_unique<session::Listener>(std::move(options), std::move(policy), worker_count_));
  }
  return true;
}

bool Server::make_tls() {
  for (size_t i = 0; i < listeners_.size(); ++i) {
    session::Listener& listener = *listeners_[i];
    TlsContexts& tls = tls_.emplace_back(listener.options());
    std::string fault;
    if (!tls.load(fault)) return complain(fault);
    std::vector<ListenerTls> made = tls.make(worker_count_, fault);
    if (made.empty()) return complain(fault);
    for (size_t j = 0; j < worker_count_; ++j) use_tls(listener, j, made[j]);
  }
  return true;
}

// New connections get what the files hold now; what is not right leaves what was there before, for
// all workers alike.
void Server::reload_certificates() {
  LogSink& log = log_.sink(worker_count_);
  for (size_t i = 0; i < listeners_.size(); ++i) {
    session::Listener& listener = *listeners_[i];
    if (!listener.options().tls.enabled() && !listener.options().to_tls.enabled) continue;
    TlsContexts& tls = tls_[i];
    tls.reload(log);
    std::string fault;
    const std::vector<ListenerTls> made = tls.make(worker_count_, fault);
    if (made.empty()) {
      LogLine line;
      line.add("event", "reload_failed").add("listener", listener.options().name);
      line.add("details", fault);
      log.write(LogLevel::error, line.text());
      continue;
    }
    auto left = std::make_shared<std::atomic<size_t>>(worker_count_);
    for (size_t j = 0; j < worker_count_; ++j) {
      workers_[j]->post([this, &listener, &tls, j, mine = made[j], left](WorkerThread&) {
        use_tls(listener, j, mine);
        if (left->fetch_sub(1) == 1) tls.log_reloaded(log_.sink(j));
      });
    }
  }
}

bool Server::make_workers() {
  std::string via_id = random_id();
  for (size_t i = 0; i < worker_count_; ++i) {
    Result<std::unique_ptr<WorkerThread>> worker =
        WorkerThread::create(i, settings_.dns, log_.sink(i), via_id);
    if (!worker)
      return complain("cannot make a worker: " + std::string(describe(worker.error().what)));
    workers_.push_back(std::move(*worker));
  }
  for (size_t i = 0; i < sockets_.size(); ++i) {
    for (ListeningSockets& sockets : sockets_[i]) {
      for (size_t j = 0; j < worker_count_; ++j) {
        Result<Done> listening =
            workers_[j]->listen(*listeners_[i], std::move(sockets.fds[j]), *this);
        if (!listening)
          return complain("cannot listen: " + std::string(describe(listening.error().what)));
      }
    }
  }
  return true;
}

void Server::announce() const {
  for (size_t i = 0; i < sockets_.size(); ++i) {
    const session::ListenerOptions& options = listeners_[i]->options();
    std::string protocol(name_of(options.protocol));
    for (const ListeningSockets& sockets : sockets_[i])
      std::fprintf(stderr, "listening %s %s listener=%s workers=%zu\n", protocol.c_str(),
                   sockets.address.to_string().c_str(), options.name.c_str(), worker_count_);
  }
}

void Server::wait_for_signal() {
  sigset_t signals = handled_signals();
  for (;;) {
    int signal = 0;
    if (sigwait(&signals, &signal) != 0) continue;
    if (signal == SIGHUP)
      reload_certificates();
    else if (signal == SIGUSR1)
      log_.reopen();
    else
      return;
  }
}

// Listeners close at once; sessions go on until they end, the limit passes or a second signal
// comes.
void Server::drain() {
  LogLine line;
  line.add("event", "draining")
      .add_seconds("limit", static_cast<uint64_t>(settings_.drain_timeout.count()));
  log_.sink(worker_count_).write(LogLevel::info, line.text());
  for (auto& worker : workers_) worker->drain();
  net::SystemClock clock;
  const net::Instant limit = clock.now() + settings_.drain_timeout;
  sigset_t signals = handled_signals();
  auto all_drained = [this] {
    for (auto& worker : workers_)
      if (!worker->drained()) return false;
    return true;
  };
  while (!all_drained() && clock.now() < limit) {
    timespec pause{0, kSignalPollMilliseconds * 1'000'000};
    int signal = sigtimedwait(&signals, nullptr, &pause);
    if (signal == SIGTERM || signal == SIGINT) break;
  }
  for (auto& worker : workers_) worker->cut();
  for (auto& worker : workers_) worker->stop();
  for (auto& worker : workers_) worker->join();
}

void Server::hand_over(size_t worker, session::Listener& listener, UniqueFd client,
                       std::optional<net::Endpoint> address) {
  // std::function wants a copyable callable; the descriptor is owned again as soon as it runs, and
  // a message that never runs ends with the process.
  int fd = client.release();
  workers_[worker]->post([&listener, fd, address](WorkerThread& self) {
    UniqueFd owned(fd);
    if (self.worker().draining()) {
      listener.note_closed(self.worker().index);
      return net::reset_and_close(std::move(owned));
    }
    session::Session::start(self.worker(), listener, std::move(owned), address);
  });
}

}  // namespace headrace::app
