#include "app/log_writer.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <ctime>

namespace headrace::app {
namespace {

constexpr size_t kEventTarget = 0;
// Lines are gathered for so long before the next write, while they keep coming.
constexpr int kGatherMilliseconds = 20;
// What one target may gather before it is written.
constexpr size_t kPendingBytesMax = 64 * 1024;

// How often at most a target that goes on failing is told of.
constexpr std::chrono::seconds kLossInterval(10);

// Non-blocking for those that are no files: opening a FIFO would wait for a reader.
UniqueFd open_file(const std::string& path) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK;
  return UniqueFd(::open(path.c_str(), kFlags, 0640));
}

// Writes all of it, waiting where the descriptor is full; less than all when a write failed, with
// errno telling why.
size_t write_all(int fd, std::string_view text) {
  std::string_view rest = text;
  while (!rest.empty()) {
    ssize_t written = ::write(fd, rest.data(), rest.size());
    if (written > 0) {
      rest.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd wait{fd, POLLOUT, 0};
      ::poll(&wait, 1, -1);
    } else if (errno != EINTR) {
      break;
    }
  }
  return text.size() - rest.size();
}

}  // namespace

void append_time(std::string& out) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  tm utc{};
  gmtime_r(&now.tv_sec, &utc);
  char text[64];
  size_t size = strftime(text, sizeof(text), "time=%Y-%m-%dT%H:%M:%S", &utc);
  out.append(text, size);
  size = static_cast<size_t>(std::snprintf(text, sizeof(text), ".%06ldZ ", now.tv_nsec / 1000));
  out.append(text, size);
}

// One ring's end in its worker.
class LogWriter::RingSink final : public LogSink {
 public:
  RingSink(LogWriter& writer, LogRing& ring) : writer_(writer), ring_(ring) {}

  bool wants(LogLevel level) const override { return level <= writer_.level_; }
  void write(LogLevel level, std::string_view fields) override {
    if (!wants(level)) return;
    line_.clear();
    append_time(line_);
    line_ += "level=";
    line_ += name_of(level);
    line_ += ' ';
    push(kEventTarget, fields);
  }
  void write_access(size_t access_log, std::string_view fields) override {
    line_.clear();
    append_time(line_);
    push(access_log, fields);
  }

 private:
  void push(size_t target, std::string_view fields) {
    line_ += fields;
    line_ += '\n';
    ring_.push(static_cast<uint32_t>(target), line_);
    if (writer_.sleeping_.load()) writer_.wake();
  }

  LogWriter& writer_;
  LogRing& ring_;
  std::string line_;
};

LogWriter::LogWriter(LogLevel level, size_t rings)
    : level_(level), event_(eventfd(0, EFD_CLOEXEC)) {
  targets_.emplace_back().fd = STDERR_FILENO;
  for (size_t i = 0; i < rings; ++i) {
    rings_.push_back(std::make_unique<LogRing>());
    sinks_.push_back(std::make_unique<RingSink>(*this, *rings_.back()));
  }
}

LogWriter::~LogWriter() {
  stop();
}

LogSink& LogWriter::sink(size_t ring) {
  return *sinks_[ring];
}

Result<size_t> LogWriter::open_access_log(const std::string& path) {
  for (size_t i = 1; i < targets_.size(); ++i)
    if (targets_[i].path == path) return i;
  Target target;
  target.path = path;
  target.fd = STDOUT_FILENO;
  if (path != "-") {
    target.file = open_file(path);
    if (!target.file) return Error{Errc::os_failure, Side::local, errno};
    target.fd = target.file.get();
  }
  targets_.push_back(std::move(target));
  return targets_.size() - 1;
}

void LogWriter::start() {
  thread_ = std::thread([this] { run(); });
}

void LogWriter::stop() {
  if (!thread_.joinable()) return;
  stopping_.store(true);
  wake();
  // A reader that takes nothing must not keep the process from ending.
  constexpr int kTries = 100;
  for (int i = 0; i < kTries && !finished_.load(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  if (!finished_.load()) std::_Exit(EXIT_SUCCESS);
  thread_.join();
}

void LogWriter::wake() {
  uint64_t one = 1;
  // A full counter wakes as well, so the result says nothing of interest.
  [[maybe_unused]] ssize_t written = ::write(event_.get(), &one, sizeof(one));
}

void LogWriter::run() {
  bool busy = false;
  for (;;) {
    bool stopping = stopping_.load();
    if (reopen_.exchange(false)) open_again();
    busy = drain_rings();
    report_drops();
    report_losses(stopping);
    if (stopping) break;
    if (busy) {
      std::this_thread::sleep_for(std::chrono::milliseconds(kGatherMilliseconds));
      continue;
    }
    sleeping_.store(true);
    if (!drain_rings() && !stopping_.load() && !reopen_.load()) {
      uint64_t count;
      [[maybe_unused]] ssize_t got = ::read(event_.get(), &count, sizeof(count));
    }
    sleeping_.store(false);
  }
  finished_.store(true);
}

bool LogWriter::drain_rings() {
  bool any = false;
  std::string line;
  for (std::unique_ptr<LogRing>& ring : rings_) {
    uint32_t target;
    while (ring->pop(target, line)) {
      any = true;
      targets_[target].pending += line;
      if (targets_[target].pending.size() >= kPendingBytesMax) flush(targets_[target]);
    }
  }
  for (Target& target : targets_) flush(target);
  return any;
}

void LogWriter::flush(Target& target) {
  std::string_view pending = target.pending;
  if (pending.empty()) return;
  size_t written = 0;
  // What a line that was cut has left would swallow the next one.
  if (!target.torn || write_all(target.fd, "\n") == 1) {
    target.torn = false;
    written = write_all(target.fd, pending);
  }
  if (written < pending.size()) {
    target.os_errno = errno;
    target.torn = target.torn || (written > 0 && pending[written - 1] != '\n');
    std::string_view lost = pending.substr(written);
    target.lost_lines += static_cast<uint64_t>(std::count(lost.begin(), lost.end(), '\n'));
  }
  target.pending.clear();
}

void LogWriter::tell(const LogLine& fields) {
  Target& target = targets_[kEventTarget];
  append_time(target.pending);
  target.pending += fields.text();
  target.pending += '\n';
  flush(target);
}

void LogWriter::report_drops() {
  uint64_t dropped = 0;
  for (const std::unique_ptr<LogRing>& ring : rings_) dropped += ring->dropped();
  if (dropped == drops_told_) return;
  LogLine fields;
  fields.add("level", "warn").add("event", "log_lines_dropped").add("lines", dropped - drops_told_);
  drops_told_ = dropped;
  tell(fields);
}

void LogWriter::report_losses(bool at_end) {
  const auto now = std::chrono::steady_clock::now();
  for (Target& target : targets_) {
    if (target.lost_lines == target.lost_told) continue;
    if (!at_end && target.told && now - *target.told < kLossInterval) continue;
    LogLine fields;
    fields.add("level", "error").add("event", "log_write_failed");
    fields.add("log", target.path.empty() ? "stderr" : target.path);
    fields.add("errno", static_cast<uint64_t>(target.os_errno));
    fields.add("lines", target.lost_lines - target.lost_told);
    target.lost_told = target.lost_lines;
    target.told = now;
    tell(fields);
  }
}

void LogWriter::open_again() {
  for (Target& target : targets_) {
    if (!target.file) continue;
    UniqueFd file = open_file(target.path);
    if (!file) continue;  // better the old file than none
    target.file = std::move(file);
    target.fd = target.file.get();
  }
}

}  // namespace headrace::app
