#include "histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "random.h"

namespace headrace::load {
namespace {

TEST(Histogram, reports_a_value_too_low_by_less_than_a_sixteenth_and_never_too_high) {
  Random random(1);
  for (int i = 0; i < 200'000; ++i) {
    const auto value = static_cast<int64_t>(random.log_uniform(1, 9e18));
    Histogram histogram;
    histogram.record(value);
    const int64_t told = histogram.percentile(0.5);
    ASSERT_LE(told, value);
    ASSERT_LT(value - told, std::max<int64_t>(value / 16 + 1, 1)) << value;
  }
}

TEST(Histogram, is_exact_below_32_and_at_powers_of_two) {
  for (int64_t value = 0; value < 32; ++value) {
    Histogram histogram;
    histogram.record(value);
    EXPECT_EQ(histogram.percentile(1), value);
  }
  for (int shift = 5; shift < 63; ++shift) {
    const int64_t value = int64_t{1} << shift;
    Histogram histogram;
    histogram.record(value);
    EXPECT_EQ(histogram.percentile(1), value);
  }
}

TEST(Histogram, takes_the_largest_value_there_is) {
  Histogram histogram;
  histogram.record(std::numeric_limits<int64_t>::max());
  EXPECT_EQ(histogram.max(), std::numeric_limits<int64_t>::max());
  EXPECT_GT(histogram.percentile(1), std::numeric_limits<int64_t>::max() / 16 * 15);
}

TEST(Histogram, percentiles_are_those_of_the_sorted_values_within_a_sixteenth) {
  Random random(2);
  Histogram histogram;
  std::vector<int64_t> values;
  for (int i = 0; i < 50'000; ++i) {
    values.push_back(static_cast<int64_t>(random.exponential(2e6)));
    histogram.record(values.back());
  }
  std::sort(values.begin(), values.end());
  for (const double share : {0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const double rank = std::ceil(share * static_cast<double>(values.size()));
    const int64_t exact = values[static_cast<size_t>(rank) - 1];
    EXPECT_LE(histogram.percentile(share), exact) << share;
    EXPECT_LE(exact - histogram.percentile(share), exact / 16 + 1) << share;
  }
  EXPECT_EQ(histogram.max(), values.back());
}

TEST(Histogram, one_slow_value_in_a_hundred_is_the_p999_but_not_the_p90) {
  Histogram histogram;
  for (int i = 0; i < 99; ++i) histogram.record(1024);
  histogram.record(1 << 20);
  EXPECT_EQ(histogram.percentile(0.9), 1024);
  EXPECT_EQ(histogram.percentile(0.99), 1024);
  EXPECT_EQ(histogram.percentile(0.999), 1 << 20);
}

TEST(Histogram, counts_a_negative_value_as_zero) {
  Histogram histogram;
  histogram.record(-5);
  EXPECT_EQ(histogram.count(), 1u);
  EXPECT_EQ(histogram.percentile(1), 0);
  EXPECT_EQ(histogram.max(), 0);
}

TEST(Histogram, mean_is_of_the_values_not_of_the_buckets) {
  Histogram histogram;
  histogram.record(1001);
  histogram.record(2003);
  EXPECT_DOUBLE_EQ(histogram.mean(), 1502);
}

}  // namespace
}  // namespace headrace::load
