// Several workers, each on a thread of its own, with the listeners, the handing over and the log
// that the program gives them. The test's thread plays clients and origins. Before the workers end
// each is asked what it still has, which must be nothing.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <vector>

#include "app/listen.h"
#include "app/log_writer.h"
#include "app/worker_thread.h"
#include "worker_fixture.h"

namespace headrace::io {

class WorkersTest : public testing::Test {
 protected:
  static constexpr size_t kWorkers = 3;

  WorkersTest();
  ~WorkersTest() override;

  // Before start(): a listener on a free port of loopback, shared by all workers.
  session::Listener& listen(session::ListenerOptions options);
  const net::Endpoint& endpoint() const { return endpoint_; }
  void start();

  // Waits until the condition holds, looking once a millisecond; false when it takes over ten
  // seconds.
  static bool wait_until(const std::function<bool()>& condition);
  PlainSocket accept_from(PlainListener& origin);
  // Sends and waits for it to come out at the other side.
  static bool passes(PlainSocket& from, PlainSocket& to, const std::string& bytes);
  static bool ends(PlainSocket& socket) {
    return wait_until([&] { return socket.end() != PlainSocket::End::open; });
  }
  size_t sessions() const;

 private:
  const size_t descriptors_before_ = open_descriptors();

  struct Handover final : session::Handover {
    explicit Handover(WorkersTest& test_in) : test(test_in) {}
    void hand_over(size_t worker, session::Listener& listener, UniqueFd client,
                   std::optional<net::Endpoint> address) override;
    WorkersTest& test;
  };
  void expect_nothing_left(app::WorkerThread& worker);

  TemporaryFile hosts_{""};
  TemporaryFile resolv_conf_{"search .\n"};
  Handover handover_{*this};
  std::unique_ptr<app::LogWriter> log_;
  std::unique_ptr<session::Listener> listener_;
  net::Endpoint endpoint_;

 protected:
  std::vector<std::unique_ptr<app::WorkerThread>> workers;
};

}  // namespace headrace::io
