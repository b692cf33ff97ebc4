#include "workers_fixture.h"

#include <signal.h>

#include <chrono>
#include <future>
#include <thread>

#include "base/check.h"
#include "net/task.h"
#include "session/session.h"

namespace headrace::io {

WorkersTest::WorkersTest() {
  ::signal(SIGPIPE, SIG_IGN);
  log_ = std::make_unique<app::LogWriter>(LogLevel::error, kWorkers);
  const size_t access_log = log_->open_access_log("/dev/null").value();
  HEADRACE_ASSERT(access_log == 1);  // what options_for() names
  dns::Options dns;
  dns.hosts_path = hosts_.path();
  dns.resolv_conf_path = resolv_conf_.path();
  dns.servers = "127.0.0.1:9";
  for (size_t i = 0; i < kWorkers; ++i)
    workers.push_back(std::move(
        *app::WorkerThread::create(i, {engine_under_test()}, dns, log_->sink(i), "test-id")));
}

WorkersTest::~WorkersTest() {
  EXPECT_TRUE(wait_until([&] { return sessions() == 0; })) << sessions() << " sessions stayed";
  for (auto& worker : workers) expect_nothing_left(*worker);
  EXPECT_EQ(listener_->live(), 0u) << "held by the listener";
  for (auto& worker : workers) worker->stop();
  workers.clear();
  log_.reset();
  EXPECT_EQ(open_descriptors(), descriptors_before_) << "descriptors";
}

void WorkersTest::expect_nothing_left(app::WorkerThread& worker) {
  struct Left {
    size_t sessions;
    size_t frames;
    size_t pipes;
  };
  std::promise<Left> promise;
  worker.post([&](app::WorkerThread& self) {
    promise.set_value(
        {self.worker().session_count(), net::live_frames, self.worker().mover.pipes.leased()});
  });
  const Left left = promise.get_future().get();
  EXPECT_EQ(left.sessions, 0u);
  EXPECT_EQ(left.frames, 0u);
  EXPECT_EQ(left.pipes, 0u);
}

session::Listener& WorkersTest::listen(session::ListenerOptions options) {
  app::ListeningSockets sockets =
      std::move(*app::open_listening(*net::ListenAddress::parse("127.0.0.1:0"), kWorkers));
  endpoint_ = sockets.address.endpoint;
  access::Options access_options;
  access_options.connect_ports = {{1, 65535}};
  listener_ = std::make_unique<session::Listener>(
      std::move(options), access::Policy(std::move(access_options), {}), kWorkers);
  for (size_t i = 0; i < kWorkers; ++i) {
    Result<Done> opened = workers[i]->listen(*listener_, std::move(sockets.fds[i]), handover_);
    HEADRACE_ASSERT(opened.has_value());
  }
  return *listener_;
}

void WorkersTest::start() {
  log_->start();
  for (auto& worker : workers) worker->start();
}

bool WorkersTest::wait_until(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

PlainSocket WorkersTest::accept_from(PlainListener& origin) {
  std::optional<PlainSocket> accepted;
  EXPECT_TRUE(wait_until([&] {
    accepted = origin.accept();
    return accepted.has_value();
  }));
  return accepted ? std::move(*accepted) : PlainSocket();
}

bool WorkersTest::passes(PlainSocket& from, PlainSocket& to, const std::string& bytes) {
  from.send(bytes);
  std::string got;
  return wait_until([&] {
           got += to.take_received();
           return from.flush() && got.size() >= bytes.size();
         }) &&
         got == bytes;
}

size_t WorkersTest::sessions() const {
  size_t sum = 0;
  for (const auto& worker : workers) sum += worker->sessions();
  return sum;
}

// As the program does it.
void WorkersTest::Handover::hand_over(size_t worker, session::Listener& listener, UniqueFd client,
                                      std::optional<net::Endpoint> address) {
  const int fd = client.release();
  test.workers[worker]->post([&listener, fd, address](app::WorkerThread& self) {
    session::Session::start(self.worker(), listener, UniqueFd(fd), address);
  });
}

}  // namespace headrace::io
