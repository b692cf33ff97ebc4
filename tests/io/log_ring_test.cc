// The ring between a worker and the thread that writes its log lines.
#include "app/log_ring.h"

#include <gtest/gtest.h>

#include <thread>

namespace headrace::app {
namespace {

// Number `i`, at a length that goes through all of them.
std::string line_of(uint64_t i) {
  return std::to_string(i) + std::string(i % 301, '.');
}

TEST(LogRingTest, lines_come_out_as_they_went_in) {
  LogRing ring;
  ASSERT_TRUE(ring.push(0, "one"));
  ASSERT_TRUE(ring.push(7, ""));
  ASSERT_TRUE(ring.push(1, std::string_view("\0\xff", 2)));
  uint32_t target = 99;
  std::string line;
  ASSERT_TRUE(ring.pop(target, line));
  EXPECT_EQ(target, 0u);
  EXPECT_EQ(line, "one");
  ASSERT_TRUE(ring.pop(target, line));
  EXPECT_EQ(target, 7u);
  EXPECT_EQ(line, "");
  ASSERT_TRUE(ring.pop(target, line));
  EXPECT_EQ(line, std::string_view("\0\xff", 2));
  EXPECT_FALSE(ring.pop(target, line));
}

TEST(LogRingTest, lines_that_lie_across_its_end_are_whole) {
  LogRing ring;
  uint32_t target;
  std::string line;
  // Some ten times round, with heads and texts cut at every place.
  for (uint64_t i = 0; i < 10 * LogRing::kBytes / 150; ++i) {
    ASSERT_TRUE(ring.push(static_cast<uint32_t>(i), line_of(i)));
    ASSERT_TRUE(ring.pop(target, line));
    ASSERT_EQ(target, i);
    ASSERT_EQ(line, line_of(i));
  }
  EXPECT_EQ(ring.dropped(), 0u);
}

TEST(LogRingTest, a_full_ring_drops_the_new_lines_and_counts_them) {
  LogRing ring;
  uint64_t kept = 0;
  while (ring.push(0, line_of(kept))) ++kept;
  EXPECT_GT(kept, LogRing::kBytes / 400) << "full too early";
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(ring.push(0, std::string(500, 'x')));
  EXPECT_EQ(ring.dropped(), 11u);

  uint32_t target;
  std::string line;
  for (uint64_t i = 0; i < kept; ++i) {
    ASSERT_TRUE(ring.pop(target, line));
    ASSERT_EQ(line, line_of(i));
  }
  EXPECT_FALSE(ring.pop(target, line));
  EXPECT_TRUE(ring.push(0, "there is room again"));
}

TEST(LogRingTest, a_line_longer_than_the_ring_is_dropped) {
  LogRing ring;
  EXPECT_FALSE(ring.push(0, std::string(LogRing::kBytes, 'x')));
  EXPECT_EQ(ring.dropped(), 1u);
  EXPECT_TRUE(ring.push(0, "a shorter one"));
}

// Both ends at once; run it under ThreadSanitizer.
TEST(LogRingTest, one_thread_writes_while_another_reads) {
  constexpr uint64_t kLines = 50'000;
  LogRing ring;
  uint64_t dropped = 0;
  std::thread writer([&] {
    for (uint64_t i = 0; i < kLines; ++i)
      if (!ring.push(static_cast<uint32_t>(i), line_of(i))) ++dropped;
    while (!ring.push(UINT32_MAX, "the end")) std::this_thread::yield();
  });
  uint64_t read = 0;
  uint64_t next = 0;
  for (;;) {
    uint32_t target;
    std::string line;
    if (!ring.pop(target, line)) {
      std::this_thread::yield();
      continue;
    }
    if (target == UINT32_MAX) break;
    ASSERT_GE(target, next) << "out of order, or twice";
    ASSERT_EQ(line, line_of(target));
    next = target + 1;
    ++read;
  }
  writer.join();
  EXPECT_EQ(read + dropped, kLines);
}

}  // namespace
}  // namespace headrace::app
