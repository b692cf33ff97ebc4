// The load client: one thread, one epoll set, all connections. It makes connections (TCP, TLS,
// tunnel), watches timeouts and the stages of the run, and leaves the load to its Scenario.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "client_options.h"
#include "meter.h"
#include "pattern.h"
#include "scenario.h"

namespace headrace::load {

class Client {
 public:
  explicit Client(const ClientOptions& options);
  ~Client();

  // Runs to the end and prints the result; the exit status of the program.
  int run();

  // For scenarios.
  const ClientOptions& options() const { return options_; }
  const Pattern& pattern() const { return pattern_; }
  Meter& meter() { return meter_; }
  std::span<uint8_t> scratch() { return scratch_; }
  std::span<Connection> connections() { return connections_; }
  bool has_started() const { return stage_ > Stage::establishing; }
  // New work may begin: the measured time is not over.
  bool is_running() const { return has_started() && stage_ < Stage::draining; }

  void open(Connection& connection, int64_t now_ns);
  // After a failure: not before a moment has passed, so that a dead proxy is not hammered.
  void open_later(Connection& connection, int64_t now_ns);
  void close(Connection& connection);
  void settle(Connection& connection);
  void fail(Connection& connection, Failure failure, const std::string& reason);
  // Ends the measured time of a run that is not timed.
  void finish() { finish_asked_ = true; }

 private:
  enum class Stage : uint8_t { establishing, warming, measuring, draining, over };
  struct Reopening {
    int64_t when_ns;
    uint32_t index;
  };

  void watch_input();
  void turn();
  void wait(int64_t until_ns);
  void move_stage(int64_t now_ns);
  void start(int64_t now_ns);
  void begin_window(int64_t now_ns);
  void end_window(int64_t now_ns);
  int64_t next_stage_ns() const;
  void open_more(int64_t now_ns);
  int64_t reopen_due(int64_t now_ns);
  int64_t check_timeouts(int64_t now_ns);

  void on_event(Connection& connection, uint32_t events);
  void advance_setup(Connection& connection, uint32_t events);
  bool advance_connecting(Connection& connection, uint32_t events);
  bool advance_handshake(Connection& connection);
  bool advance_tunnel(Connection& connection);
  void fail_setup(Connection& connection, Failure failure, const std::string& reason);

  ClientOptions options_;
  Pattern pattern_;
  Meter meter_;
  std::unique_ptr<TlsContext> tls_;
  UniqueFd epoll_;
  std::vector<uint8_t> scratch_;
  std::vector<Connection> connections_;
  std::unique_ptr<Scenario> scenario_;
  Stage stage_ = Stage::establishing;
  bool finish_asked_ = false;
  bool failed_ = false;  // the run cannot be measured
  int64_t stage_began_ns_ = 0;
  int64_t next_scan_ns_ = 0;
  uint32_t unopened_ = 0;   // connections not yet begun: the last ones of connections_
  uint32_t under_way_ = 0;  // being set up
  uint32_t settled_ = 0;
  size_t next_address_ = 0;
  std::deque<Reopening> reopening_;
};

}  // namespace headrace::load
