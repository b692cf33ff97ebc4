#include "units.h"

#include <gtest/gtest.h>

namespace headrace::load {
namespace {

TEST(Units, rates_are_tcs) {
  EXPECT_EQ(parse_rate_bits("20mbit"), 20e6);
  EXPECT_EQ(parse_rate_bits("1.5Gbit"), 1.5e9);
  EXPECT_EQ(parse_rate_bits("10mbps"), 80e6);
  EXPECT_EQ(parse_rate_bits("1mibit"), 1048576);
  EXPECT_EQ(parse_rate_bits("64000"), 64000);
  for (const char* bad : {"", "fast", "1 mbit", "-1mbit", "20mbits", "inf", "nan"}) {
    EXPECT_FALSE(parse_rate_bits(bad)) << bad;
  }
}

TEST(Units, times_are_tcs) {
  EXPECT_DOUBLE_EQ(parse_time_seconds("5ms").value(), 0.005);
  EXPECT_DOUBLE_EQ(parse_time_seconds("100us").value(), 0.0001);
  EXPECT_DOUBLE_EQ(parse_time_seconds("2s").value(), 2);
  EXPECT_DOUBLE_EQ(parse_time_seconds("100").value(), 0.0001);
  EXPECT_FALSE(parse_time_seconds("5min"));
}

TEST(Units, percentages_are_shares_of_at_most_one) {
  EXPECT_DOUBLE_EQ(parse_percent("0.5%").value(), 0.005);
  EXPECT_DOUBLE_EQ(parse_percent("100%").value(), 1);
  EXPECT_FALSE(parse_percent("101%"));
  EXPECT_FALSE(parse_percent("0.5"));
}

}  // namespace
}  // namespace headrace::load
