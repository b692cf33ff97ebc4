// The thread that writes logs, so that nobody else waits for a terminal, a pipe or a disk. Every
// worker has a ring to it; a target that is stuck makes rings fill and lines drop, counted, and
// nothing more.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "app/log_ring.h"
#include "base/log.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace headrace::app {

class LogWriter {
 public:
  // Lines of level `level` and graver go to stderr.
  LogWriter(LogLevel level, size_t rings);
  ~LogWriter();

  // Before start(). A path, or "-" for standard output; the number to write under. The same path
  // twice is one log.
  Result<size_t> open_access_log(const std::string& path);

  void start();
  // Writes what is there and ends, or gives up after a second on a target that is stuck.
  void stop();
  // Opens files anew under their paths (after rotation); takes effect with the next lines.
  void reopen() {
    reopen_.store(true);
    wake();
  }

  // The sink of one ring; one thread each.
  LogSink& sink(size_t ring);

 private:
  class RingSink;
  struct Target {
    std::string path;  // empty: a descriptor that is not ours
    UniqueFd file;
    int fd = -1;
    std::string pending;
  };

  void run();
  bool drain_rings();
  void flush(Target& target);
  void report_drops();
  void open_again();
  void wake();

  const LogLevel level_;
  std::vector<Target> targets_;  // [0] is stderr, then the access logs
  std::vector<std::unique_ptr<LogRing>> rings_;
  std::vector<std::unique_ptr<RingSink>> sinks_;
  UniqueFd event_;
  std::atomic<bool> sleeping_{false};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> reopen_{false};
  std::atomic<bool> finished_{false};
  uint64_t drops_told_ = 0;
  std::thread thread_;
};

// "time=2026-11-30T23:16:33.123456Z ", of now.
void append_time(std::string& out);

}  // namespace headrace::app
