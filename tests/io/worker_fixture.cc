#include "worker_fixture.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "base/check.h"
#include "net/task.h"
#include "session/session.h"

namespace headrace::io {
namespace {

// Long enough for a loaded machine and a sanitizer; a test that waits so long has failed.
constexpr net::Duration kPatience = std::chrono::seconds(10);

}  // namespace

net::Engine engine_under_test() {
  const char* name = ::getenv("HEADRACE_TEST_ENGINE");
  if (!name || std::string_view(name) == "auto") return net::Engine::automatic;
  if (std::string_view(name) == "epoll") return net::Engine::epoll;
  HEADRACE_ASSERT(std::string_view(name) == "io_uring");
  const net::SystemClock clock;
  if (!net::Loop::create(clock, net::Engine::io_uring)) {
    std::cerr << "skipped: no io_uring to be had here\n";
    std::exit(kSkipped);
  }
  return net::Engine::io_uring;
}

size_t RecordingLog::count(std::string_view text) const {
  return static_cast<size_t>(std::count_if(lines.begin(), lines.end(), [&](const auto& line) {
    return line.find(text) != std::string::npos;
  }));
}

TemporaryFile::TemporaryFile(const std::string& text)
    : path_(testing::TempDir() + "io_test_XXXXXX") {
  UniqueFd made(::mkstemp(path_.data()));
  HEADRACE_ASSERT(made);
  std::ofstream(path_) << text;
}

TemporaryFile::~TemporaryFile() {
  ::unlink(path_.c_str());
}

size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(all), end(all)));
}

session::ListenerOptions options_for(session::Protocol protocol) {
  session::ListenerOptions options;
  options.name = "test";
  options.protocol = protocol;
  options.access_log = 1;
  return options;
}

session::ListenerOptions relay_to(const net::Endpoint& endpoint) {
  session::ListenerOptions options = options_for(session::Protocol::relay);
  options.to = Target{Host(endpoint.address), endpoint.port};
  return options;
}

WorkerTest::WorkerTest(Time time, const std::string& hosts) : hosts_(hosts) {
  // As the program does it: splice(2) has no flag for it.
  ::signal(SIGPIPE, SIG_IGN);
  const net::Clock& clock =
      time == Time::manual ? static_cast<const net::Clock&>(manual_clock) : system_clock;
  loop = std::move(net::Loop::create(clock, engine_under_test())).value();
  dns::Options options;
  options.hosts_path = hosts_.path();
  options.resolv_conf_path = resolv_conf_.path();
  options.servers = "127.0.0.1:9";
  resolver_ = std::move(dns::Resolver::create(*loop, options)).value();
  worker_ = std::make_unique<session::Worker>(0, *loop, *resolver_, log, "test-id");
}

WorkerTest::~WorkerTest() {
  check_for_leaks();
}

// By now everything that the test itself had is closed, and so sessions have no reason to stay.
void WorkerTest::check_for_leaks() {
  if (!worker_) return;
  EXPECT_TRUE(run_until([&] { return worker_->session_count() == 0; }))
      << worker_->session_count() << " sessions stayed when both their sides had gone";
  EXPECT_EQ(worker_->mover.pipes.leased(), 0u) << "pipes";
  for (const auto& front : fronts_) EXPECT_EQ(front->listener->live(), 0u) << "held by a listener";
  end_worker();
  EXPECT_EQ(net::live_frames, 0u) << "coroutine frames";
  EXPECT_EQ(open_descriptors(), descriptors_before_) << "descriptors";
}

void WorkerTest::end_worker() {
  for (const auto& front : fronts_) front->acceptor.reset();
  worker_.reset();
  resolver_.reset();
  fronts_.clear();
  loop.reset();
}

WorkerTest::Front& WorkerTest::listen(session::ListenerOptions options, BufferSizes sizes,
                                      access::Options access_options) {
  constexpr int kBacklog = 4096;
  PlainListener socket("127.0.0.1", 0, kBacklog, sizes);
  auto front = std::make_unique<Front>();
  front->endpoint = socket.endpoint();
  access_options.connect_ports = {{1, 65535}};
  front->listener = std::make_unique<session::Listener>(
      std::move(options), access::Policy(std::move(access_options), {}), 1);
  front->acceptor = std::make_unique<session::Acceptor>(*worker_, *front->listener, no_handover_);
  HEADRACE_ASSERT(front->acceptor->open(socket.take_fd()).has_value());
  return *fronts_.emplace_back(std::move(front));
}

session::Listener& WorkerTest::unheard_listener(session::ListenerOptions options) {
  auto front = std::make_unique<Front>();
  front->listener =
      std::make_unique<session::Listener>(std::move(options), access::Policy({}, {}), 1);
  return *fronts_.emplace_back(std::move(front))->listener;
}

bool WorkerTest::run_until(const std::function<bool()>& condition) {
  const net::Instant begin = system_clock.now();
  while (!condition()) {
    if (system_clock.now() - begin > kPatience) return false;
    turn();
  }
  return true;
}

void WorkerTest::run_for(net::Duration time) {
  const net::Instant end = system_clock.now() + time;
  while (system_clock.now() < end) turn();
}

PlainSocket WorkerTest::accept_from(PlainListener& origin) {
  std::optional<PlainSocket> accepted;
  EXPECT_TRUE(run_until([&] {
    accepted = origin.accept();
    return accepted.has_value();
  })) << "nobody came to "
      << origin.name();
  return accepted ? std::move(*accepted) : PlainSocket();
}

}  // namespace headrace::io
