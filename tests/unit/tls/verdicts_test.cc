#include "tls/verdicts.h"

#include <gtest/gtest.h>

namespace headrace::tls {
namespace {

constexpr Verdicts::Time kNow = 1'700'000'000;
constexpr Verdicts::Time kFar = kNow + 1'000'000;

Verdicts::Key key(size_t number) {
  return {static_cast<uint8_t>(number), static_cast<uint8_t>(number >> 8)};
}

TEST(verdicts, a_chain_is_good_for_an_hour) {
  Verdicts verdicts;
  EXPECT_FALSE(verdicts.has(key(1), kNow));
  verdicts.keep(key(1), kNow, kFar);
  EXPECT_TRUE(verdicts.has(key(1), kNow));
  EXPECT_FALSE(verdicts.has(key(2), kNow));
  EXPECT_TRUE(verdicts.has(key(1), kNow + 3599));
  EXPECT_FALSE(verdicts.has(key(1), kNow + 3600));
  verdicts.keep(key(1), kNow + 3600, kFar);
  EXPECT_TRUE(verdicts.has(key(1), kNow + 3600));
}

TEST(verdicts, but_no_longer_than_its_certificates) {
  Verdicts verdicts;
  verdicts.keep(key(1), kNow, kNow + 10);
  EXPECT_TRUE(verdicts.has(key(1), kNow + 9));
  EXPECT_FALSE(verdicts.has(key(1), kNow + 10));
}

TEST(verdicts, a_clock_set_back_says_nothing_of_the_time_before) {
  Verdicts verdicts;
  verdicts.keep(key(1), kNow, kFar);
  EXPECT_FALSE(verdicts.has(key(1), kNow - 1));
}

TEST(verdicts, the_oldest_goes) {
  Verdicts verdicts;
  for (size_t i = 0; i < Verdicts::kCountMax; ++i) verdicts.keep(key(i), kNow, kFar);
  verdicts.keep(key(0), kNow + 1, kFar);  // is no longer the oldest, and counts once
  EXPECT_EQ(verdicts.size(), Verdicts::kCountMax);
  verdicts.keep(key(1000), kNow + 2, kFar);
  EXPECT_EQ(verdicts.size(), Verdicts::kCountMax);
  EXPECT_TRUE(verdicts.has(key(0), kNow + 2));
  EXPECT_FALSE(verdicts.has(key(1), kNow + 2));
  EXPECT_TRUE(verdicts.has(key(1000), kNow + 2));
}

}  // namespace
}  // namespace headrace::tls
