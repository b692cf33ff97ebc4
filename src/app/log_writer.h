// The thread that writes logs, so that nobody else waits for a terminal, a pipe or a disk. Every
// worker has a ring to it; a target that is stuck makes rings fill and lines drop, and one that
// fails, a full disk say, loses its lines: counted and told, and nothing more.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "app/log_ring.h"
#include "base/log.h"
#include "base/log_line.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace headrace::app {

class LogWriter {
 public:
  // Lines of level `level` and graver go to stderr.
  LogWriter(LogLevel level, size_t rings);
  ~LogWriter();

  // Before start(). A path, or "-" for standard output; the number to write under. The same path
  // twice is one log. Never waits: a FIFO that nobody reads is an error (ENXIO).
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
    bool torn = false;        // ends within a line, the rest of which was lost
    uint64_t lost_lines = 0;  // by writes that failed
    uint64_t lost_told = 0;
    int os_errno = 0;  // of the last of them
    std::optional<std::chrono::steady_clock::time_point> told{};
  };

  void run();
  bool drain_rings();
  void flush(Target& target);
  void report_drops();
  // What failed writes have lost: at once, then from time to time, and at the end.
  void report_losses(bool at_end);
  void tell(const LogLine& fields);
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
