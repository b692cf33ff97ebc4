// The thread that writes logs: to files, to what is renamed below it, and to what takes nothing.
#include "app/log_writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <sstream>
#include <thread>

#include "base/check.h"

namespace headrace::app {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

class LogWriterTest : public testing::Test {
 protected:
  LogWriterTest() { HEADRACE_ASSERT(::mkdtemp(folder_.data()) != nullptr); }
  ~LogWriterTest() override { std::filesystem::remove_all(folder_); }

  std::string path(const char* name) const { return folder_ + "/" + name; }
  static std::string text_of(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  static std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
  }
  static bool wait_until(const std::function<bool()>& condition) {
    const auto end = steady_clock::now() + seconds(10);
    while (!condition()) {
      if (steady_clock::now() > end) return false;
      std::this_thread::sleep_for(milliseconds(1));
    }
    return true;
  }

 private:
  std::string folder_ = testing::TempDir() + "log_writer_XXXXXX";
};

TEST_F(LogWriterTest, lines_are_written_whole_and_in_order_with_the_time_in_front) {
  LogWriter writer(LogLevel::info, 1);
  const size_t log = writer.open_access_log(path("access")).value();
  writer.start();
  for (int i = 0; i < 500; ++i) writer.sink(0).write_access(log, "number=" + std::to_string(i));
  writer.stop();
  const std::vector<std::string> lines = lines_of(text_of(path("access")));
  ASSERT_EQ(lines.size(), 500u);
  for (size_t i = 0; i < lines.size(); ++i) {
    int date[3];
    int time[4];
    size_t number;
    ASSERT_EQ(
        std::sscanf(lines[i].c_str(), "time=%4d-%2d-%2dT%2d:%2d:%2d.%6dZ number=%zu", &date[0],
                    &date[1], &date[2], &time[0], &time[1], &time[2], &time[3], &number),
        8)
        << lines[i];
    EXPECT_EQ(number, i);
    EXPECT_EQ(lines[i].find('Z'), std::string_view("time=2026-12-01T00:00:00.000000").size());
  }
}

// Nobody may have to say the next line for the last one to be seen.
TEST_F(LogWriterTest, a_lone_line_is_written_soon) {
  LogWriter writer(LogLevel::info, 1);
  const size_t log = writer.open_access_log(path("access")).value();
  writer.start();
  for (int i = 1; i <= 3; ++i) {
    writer.sink(0).write_access(log, "alone");
    EXPECT_TRUE(wait_until([&] { return lines_of(text_of(path("access"))).size() == size_t(i); }));
  }
}

TEST_F(LogWriterTest, lines_below_the_level_are_not_wanted) {
  testing::internal::CaptureStderr();
  {
    LogWriter writer(LogLevel::warn, 1);
    LogSink& sink = writer.sink(0);
    EXPECT_TRUE(sink.wants(LogLevel::error));
    EXPECT_TRUE(sink.wants(LogLevel::warn));
    EXPECT_FALSE(sink.wants(LogLevel::info));
    writer.start();
    sink.write(LogLevel::info, "event=chatter");
    sink.write(LogLevel::warn, "event=trouble");
  }
  const std::vector<std::string> lines = lines_of(testing::internal::GetCapturedStderr());
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(lines[0].ends_with(" level=warn event=trouble")) << lines[0];
}

TEST_F(LogWriterTest, the_same_path_twice_is_one_log) {
  LogWriter writer(LogLevel::info, 1);
  const size_t first = writer.open_access_log(path("access")).value();
  const size_t other = writer.open_access_log(path("other")).value();
  EXPECT_EQ(writer.open_access_log(path("access")).value(), first);
  EXPECT_NE(first, other);
  EXPECT_EQ(writer.open_access_log(path("no/such/folder")).error().os_errno, ENOENT);
}

TEST_F(LogWriterTest, an_existing_log_is_added_to) {
  std::ofstream(path("access")) << "from before\n";
  {
    LogWriter writer(LogLevel::info, 1);
    const size_t log = writer.open_access_log(path("access")).value();
    writer.start();
    writer.sink(0).write_access(log, "new");
  }
  const std::vector<std::string> lines = lines_of(text_of(path("access")));
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], "from before");
}

TEST_F(LogWriterTest, after_rotation_lines_go_to_the_new_file) {
  LogWriter writer(LogLevel::info, 1);
  const size_t log = writer.open_access_log(path("access")).value();
  writer.start();
  writer.sink(0).write_access(log, "before");
  ASSERT_TRUE(wait_until([&] { return !text_of(path("access")).empty(); }));
  std::filesystem::rename(path("access"), path("access.1"));
  writer.reopen();
  ASSERT_TRUE(wait_until([&] { return std::filesystem::exists(path("access")); }));
  writer.sink(0).write_access(log, "after");
  ASSERT_TRUE(wait_until([&] { return !text_of(path("access")).empty(); }));
  EXPECT_TRUE(text_of(path("access")).ends_with("after\n"));
  EXPECT_TRUE(text_of(path("access.1")).ends_with("before\n"));
}

// Each worker has a ring of its own; run it under ThreadSanitizer.
TEST_F(LogWriterTest, workers_write_at_the_same_time) {
  constexpr size_t kWorkers = 4;
  constexpr int kLines = 1'000;
  {
    LogWriter writer(LogLevel::info, kWorkers);
    const size_t log = writer.open_access_log(path("access")).value();
    writer.start();
    std::vector<std::thread> workers;
    for (size_t w = 0; w < kWorkers; ++w)
      workers.emplace_back([&, w] {
        for (int i = 0; i < kLines; ++i)
          writer.sink(w).write_access(log, "w=" + std::to_string(w) + " i=" + std::to_string(i));
      });
    for (std::thread& worker : workers) worker.join();
  }
  std::vector<int> next(kWorkers, 0);
  for (const std::string& line : lines_of(text_of(path("access")))) {
    size_t worker;
    int number;
    ASSERT_EQ(std::sscanf(line.c_str(), "time=%*s w=%zu i=%d", &worker, &number), 2) << line;
    ASSERT_LT(worker, kWorkers);
    EXPECT_EQ(number, next[worker]++) << line;
  }
  EXPECT_EQ(next, std::vector<int>(kWorkers, kLines));
}

// A pipe whose reader does not read: full after 64 KB.
class StuckPipe {
 public:
  explicit StuckPipe(std::string path) : path_(std::move(path)) {
    HEADRACE_ASSERT(::mkfifo(path_.c_str(), 0600) == 0);
    reader_ = UniqueFd(::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  }
  // What has come since.
  std::string read() {
    std::string text;
    char buffer[65536];
    for (ssize_t bytes; (bytes = ::read(reader_.get(), buffer, sizeof(buffer))) > 0;)
      text.append(buffer, static_cast<size_t>(bytes));
    return text;
  }

 private:
  std::string path_;
  UniqueFd reader_;
};

// The sum of what was said to be lost.
size_t told_as_dropped(const std::string& events) {
  constexpr std::string_view kTold = "level=warn event=log_lines_dropped lines=";
  size_t sum = 0;
  for (size_t at = events.find(kTold); at != std::string::npos; at = events.find(kTold, at + 1))
    sum += std::strtoul(events.c_str() + at + kTold.size(), nullptr, 10);
  return sum;
}

TEST_F(LogWriterTest, a_target_that_takes_nothing_costs_lines_and_never_a_workers_time) {
  constexpr size_t kLines = 20'000;  // 2 MB and more: what a pipe and a ring hold is a quarter
  StuckPipe pipe(path("pipe"));
  testing::internal::CaptureStderr();
  std::string read;
  {
    LogWriter writer(LogLevel::info, 1);
    const size_t log = writer.open_access_log(path("pipe")).value();
    writer.start();
    LogSink& sink = writer.sink(0);
    const auto begin = steady_clock::now();
    for (size_t i = 0; i < kLines; ++i)
      sink.write_access(log, "number=" + std::to_string(i) + " " + std::string(100, '.'));
    EXPECT_LT(steady_clock::now() - begin, seconds(5));

    // The reader wakes up: what was kept comes out, and a line written now does so as well.
    EXPECT_TRUE(wait_until([&] {
      sink.write_access(log, "awake again");
      read += pipe.read();
      return read.find("awake again") != std::string::npos;
    }));
    // There is nothing left to write, so it can stop.
  }
  read += pipe.read();
  size_t kept = 0;
  long last = -1;
  for (const std::string& line : lines_of(read)) {
    if (line.find("awake again") != std::string::npos) continue;
    long number;
    ASSERT_EQ(std::sscanf(line.c_str(), "time=%*s number=%ld ", &number), 1) << line;
    ASSERT_TRUE(line.ends_with("....")) << "cut: " << line;
    EXPECT_GT(number, last);
    last = number;
    ++kept;
  }
  const size_t dropped = told_as_dropped(testing::internal::GetCapturedStderr());
  EXPECT_GT(kept, 1'000u);
  EXPECT_LT(kept, kLines / 2) << "the pipe was not full";
  // Lines written to wake the reader may have been dropped too.
  EXPECT_GE(kept + dropped, kLines) << "lines were lost uncounted";
}

TEST_F(LogWriterTest, lines_dropped_shortly_before_the_end_are_told) {
  testing::internal::CaptureStderr();
  LogWriter writer(LogLevel::info, 1);
  const size_t log = writer.open_access_log(path("access")).value();
  // Before it has started nobody empties the ring.
  constexpr size_t kLines = 10'000;
  for (size_t i = 0; i < kLines; ++i) writer.sink(0).write_access(log, std::string(100, '.'));
  writer.start();
  writer.stop();
  const size_t dropped = told_as_dropped(testing::internal::GetCapturedStderr());
  EXPECT_GT(dropped, kLines / 2);
  EXPECT_EQ(lines_of(text_of(path("access"))).size() + dropped, kLines);
}

// What was said to be lost by failing writes, line by line.
std::vector<size_t> told_as_lost(const std::string& events) {
  const std::string told =
      "level=error event=log_write_failed log=/dev/full errno=" + std::to_string(ENOSPC) +
      " lines=";
  std::vector<size_t> lines;
  for (size_t at = events.find(told); at != std::string::npos; at = events.find(told, at + 1))
    lines.push_back(std::strtoul(events.c_str() + at + told.size(), nullptr, 10));
  return lines;
}

// A full disk: every write fails at once.
TEST_F(LogWriterTest, a_target_that_fails_loses_its_lines_and_no_others_and_it_is_told) {
  constexpr size_t kLines = 100;
  testing::internal::CaptureStderr();
  LogWriter writer(LogLevel::info, 1);
  const size_t full = writer.open_access_log("/dev/full").value();
  const size_t fine = writer.open_access_log(path("access")).value();
  writer.start();
  for (size_t i = 1; i <= kLines; ++i) {
    writer.sink(0).write_access(full, "lost");
    writer.sink(0).write_access(fine, "kept");
    EXPECT_TRUE(
        wait_until([&] { return i % 50 != 0 || text_of(path("access")).size() >= 35 * i; }));
  }
  writer.stop();
  EXPECT_EQ(lines_of(text_of(path("access"))).size(), kLines);
  const std::vector<size_t> lost = told_as_lost(testing::internal::GetCapturedStderr());
  EXPECT_EQ(std::accumulate(lost.begin(), lost.end(), size_t{0}), kLines);
  EXPECT_LE(lost.size(), 2u) << "once when it began and once at the end, not per write";
}

// While this lives, files cannot grow beyond so many bytes: a write takes what has room, then
// fails, as on a disk that fills up.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::signal(SIGXFSZ, SIG_IGN);
    HEADRACE_ASSERT(::getrlimit(RLIMIT_FSIZE, &before_) == 0);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    HEADRACE_ASSERT(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
  }
  ~FileSizeLimit() { HEADRACE_ASSERT(::setrlimit(RLIMIT_FSIZE, &before_) == 0); }

 private:
  rlimit before_{};
};

TEST_F(LogWriterTest, a_line_that_was_cut_does_not_swallow_the_next_one) {
  LogWriter writer(LogLevel::info, 1);
  const size_t log = writer.open_access_log(path("access")).value();
  writer.start();
  {
    FileSizeLimit limit(40);
    writer.sink(0).write_access(log, "cut_somewhere_in_the_middle");
    ASSERT_TRUE(wait_until([&] { return text_of(path("access")).size() == 40; }));
    writer.sink(0).write_access(log, "lost");
    std::this_thread::sleep_for(milliseconds(100));  // nothing of it is to be seen
  }
  writer.sink(0).write_access(log, "whole");
  writer.stop();
  const std::vector<std::string> lines = lines_of(text_of(path("access")));
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].size(), 40u);
  EXPECT_TRUE(lines[1].starts_with("time=") && lines[1].ends_with(" whole")) << lines[1];
}

TEST_F(LogWriterTest, a_fifo_that_nobody_reads_is_refused_at_once) {
  HEADRACE_ASSERT(::mkfifo(path("pipe").c_str(), 0600) == 0);
  LogWriter writer(LogLevel::info, 1);
  EXPECT_EQ(writer.open_access_log(path("pipe")).error().os_errno, ENXIO);
}

using LogWriterDeathTest = LogWriterTest;

TEST_F(LogWriterDeathTest, a_stuck_target_does_not_keep_the_program_from_ending) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto begin = steady_clock::now();
  EXPECT_EXIT(
      {
        StuckPipe pipe(path("pipe"));
        LogWriter writer(LogLevel::info, 1);
        const size_t log = writer.open_access_log(path("pipe")).value();
        writer.start();
        for (int i = 0; i < 5'000; ++i) writer.sink(0).write_access(log, std::string(100, '.'));
        writer.stop();
      },
      testing::ExitedWithCode(0), "");
  EXPECT_LT(steady_clock::now() - begin, seconds(8));
}

}  // namespace
}  // namespace headrace::app
