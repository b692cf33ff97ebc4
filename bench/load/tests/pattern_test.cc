#include "pattern.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <vector>

#include "random.h"

namespace headrace::load {
namespace {

TEST(Pattern, byte_p_is_of_the_hash_of_its_word_as_the_readme_says) {
  const Pattern pattern;
  for (uint64_t position = 0; position < 3 * kPatternPeriodBytes; position += 997) {
    const uint64_t in_period = position % kPatternPeriodBytes;
    const uint64_t word = splitmix64(in_period / 8);
    ASSERT_EQ(*pattern.at(position), static_cast<uint8_t>(word >> (8 * (in_period % 8))));
  }
}

TEST(Pattern, splitmix64_is_the_published_one) {
  // The first output of the reference code for seed 1234567.
  EXPECT_EQ(splitmix64(1234567), 6457827717110365317u);
}

TEST(Pattern, its_file_holds_one_period_of_it) {
  const Pattern pattern;
  std::vector<uint8_t> file(kPatternPeriodBytes + 1);
  const ssize_t length = ::pread(pattern.file(), file.data(), file.size(), 0);
  ASSERT_EQ(length, static_cast<ssize_t>(kPatternPeriodBytes));
  EXPECT_TRUE(pattern.matches(0, std::span(file).first(kPatternPeriodBytes)));
}

TEST(Pattern, matches_itself_at_any_position_and_over_many_periods) {
  const Pattern pattern;
  std::vector<uint8_t> bytes;
  const uint64_t start = kPatternPeriodBytes - 100;
  for (uint64_t i = 0; i < 3 * kPatternPeriodBytes; ++i) bytes.push_back(*pattern.at(start + i));
  EXPECT_TRUE(pattern.matches(start, bytes));
  EXPECT_TRUE(pattern.matches(start + kPatternPeriodBytes, bytes));
  EXPECT_FALSE(pattern.matches(start + 1, bytes));
}

TEST(Pattern, a_single_changed_bit_is_seen_wherever_it_is) {
  const Pattern pattern;
  std::vector<uint8_t> bytes(pattern.at(5), pattern.at(5) + 4096);
  for (size_t i = 0; i < bytes.size(); i += 13) {
    bytes[i] ^= 0x10;
    ASSERT_FALSE(pattern.matches(5, bytes)) << i;
    bytes[i] ^= 0x10;
  }
  EXPECT_TRUE(pattern.matches(5, bytes));
}

TEST(Pattern, a_lost_or_doubled_buffer_of_any_power_of_two_is_seen_at_once) {
  const Pattern pattern;
  for (int shift = 0; shift < 40; ++shift) {
    const uint64_t buffer = uint64_t{1} << shift;
    const std::span<const uint8_t> after(pattern.at(12345 + buffer), 16);
    EXPECT_FALSE(pattern.matches(12345, after)) << "shift of " << buffer;
  }
}

}  // namespace
}  // namespace headrace::load
