// A whole worker on a real loop, with real sockets, in the test's own thread: the test turns the
// loop until what it waits for holds. When the test is over nothing may be left of it: no session,
// no coroutine frame, no leased pipe, no count on a listener, no descriptor.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "access/policy.h"
#include "base/log.h"
#include "dns/resolver.h"
#include "net/loop.h"
#include "plain_socket.h"
#include "session/listener.h"
#include "session/worker.h"

namespace headrace::io {

// What the loops of the tests wait with: HEADRACE_TEST_ENGINE (auto, epoll, io_uring), by default
// as the program does. Ends the program with kSkipped where there is no io_uring to be had.
net::Engine engine_under_test();
inline constexpr int kSkipped = 77;  // ctest shows such a program as skipped

// Keeps every line.
class RecordingLog final : public LogSink {
 public:
  bool wants(LogLevel) const override { return true; }
  void write(LogLevel, std::string_view fields) override { lines.emplace_back(fields); }
  void write_access(size_t, std::string_view fields) override { access_lines.emplace_back(fields); }

  // How many of the lines hold that text.
  size_t count(std::string_view text) const;

  std::vector<std::string> lines;
  std::vector<std::string> access_lines;
};

// A file of the system that a test writes, gone with it.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text);
  ~TemporaryFile();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

size_t open_descriptors();

// The default of a test: nothing is limited in time but by the test itself, everyone may go
// anywhere.
session::ListenerOptions options_for(session::Protocol protocol);
session::ListenerOptions relay_to(const net::Endpoint& endpoint);

class WorkerTest : public testing::Test {
 protected:
  enum class Time : uint8_t { real, manual };

  // `hosts` is what the resolver finds in /etc/hosts; it asks no name server.
  explicit WorkerTest(Time time = Time::real, const std::string& hosts = "");
  ~WorkerTest() override;

  // A listener on a free port, its options with the buffers that its clients' sockets inherit.
  struct Front {
    std::unique_ptr<session::Listener> listener;
    std::unique_ptr<session::Acceptor> acceptor;
    net::Endpoint endpoint;
  };
  Front& listen(session::ListenerOptions options, BufferSizes sizes = {},
                access::Options access_options = {});
  // Without an acceptor: for what is started by the test itself.
  session::Listener& unheard_listener(session::ListenerOptions options);

  // One turn; waits at most a millisecond. Whatever lets the worker run does it by this.
  virtual void turn() { loop->turn(std::chrono::milliseconds(1)); }
  // Turns the loop until the condition holds; false when that takes over ten seconds.
  bool run_until(const std::function<bool()>& condition);
  // Turns for a while, for what must not happen.
  void run_for(net::Duration time);
  // Of Time::manual. Timers that are due fire in the next turn.
  void advance(net::Duration by) { manual_clock.advance(by); }
  // The next connection to an origin.
  PlainSocket accept_from(PlainListener& origin);

  session::Worker& worker() { return *worker_; }
  // Ends the worker, with what it still has.
  void end_worker();

 private:
  // First, so that it counts before anything is opened.
  const size_t descriptors_before_ = open_descriptors();

 protected:
  net::SystemClock system_clock;
  net::ManualClock manual_clock;
  RecordingLog log;
  std::unique_ptr<net::Loop> loop;

 private:
  class NoHandover final : public session::Handover {
   public:
    void hand_over(size_t, session::Listener&, UniqueFd, std::optional<net::Endpoint>) override {
      ADD_FAILURE() << "the only worker gave a client away";
    }
  };

  void check_for_leaks();

  TemporaryFile hosts_;
  TemporaryFile resolv_conf_{"search .\n"};
  std::unique_ptr<dns::Resolver> resolver_;
  std::unique_ptr<session::Worker> worker_;
  NoHandover no_handover_;
  std::vector<std::unique_ptr<Front>> fronts_;
};

// Turns `text` into an address.
inline IpAddress address(const char* text) {
  return IpAddress::parse(text).value();
}

}  // namespace headrace::io
