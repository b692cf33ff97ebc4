#include "schedule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "clock.h"

namespace headrace::load {
namespace {

std::vector<double> gaps_ns(Schedule schedule, int count) {
  std::vector<double> gaps;
  int64_t before = schedule.due_ns();
  for (int i = 0; i < count; ++i) {
    schedule.advance();
    gaps.push_back(static_cast<double>(schedule.due_ns() - before));
    before = schedule.due_ns();
  }
  return gaps;
}

TEST(Schedule, fixed_arrivals_begin_at_the_start_and_do_not_drift) {
  // A third of a second is no whole number of nanoseconds: rounding must not add up.
  Schedule schedule(Arrivals::fixed, 3, 1000, 1);
  EXPECT_EQ(schedule.due_ns(), 1000);
  for (int i = 0; i < 3'000'000; ++i) schedule.advance();
  EXPECT_EQ(schedule.due_ns(), 1000 + 1'000'000 * kNanosPerSecond);
}

TEST(Schedule, fixed_gaps_differ_by_a_nanosecond_at_most) {
  for (const double gap : gaps_ns(Schedule(Arrivals::fixed, 7000, 0, 1), 100'000)) {
    ASSERT_NEAR(gap, 1e9 / 7000, 1);
  }
}

TEST(Schedule, poisson_gaps_have_the_mean_and_the_deviation_of_an_exponential) {
  constexpr int kCount = 400'000;
  const double mean = 1e9 / 3000;
  double sum = 0, squares = 0;
  for (const double gap : gaps_ns(Schedule(Arrivals::poisson, 3000, 0, 7), kCount)) {
    sum += gap;
    squares += gap * gap;
  }
  const double seen = sum / kCount;
  const double deviation = std::sqrt(squares / kCount - seen * seen);
  // Five standard errors of each estimate.
  EXPECT_NEAR(seen, mean, 5 * mean / std::sqrt(kCount));
  EXPECT_NEAR(deviation, mean, 5 * mean * std::sqrt(2.0 / kCount));
}

TEST(Schedule, poisson_gaps_are_distributed_as_an_exponential) {
  constexpr int kCount = 100'000;
  const double mean = 1e9 / 1000;
  std::vector<int> above(5);
  for (const double gap : gaps_ns(Schedule(Arrivals::poisson, 1000, 0, 3), kCount)) {
    for (size_t k = 0; k < above.size(); ++k) above[k] += gap > static_cast<double>(k) * mean;
  }
  for (size_t k = 1; k < above.size(); ++k) {
    const double share = std::exp(-static_cast<double>(k));
    const double error = std::sqrt(share * (1 - share) / kCount);
    EXPECT_NEAR(static_cast<double>(above[k]) / kCount, share, 5 * error) << k << " means";
  }
}

TEST(Schedule, poisson_counts_per_second_scatter_as_a_poisson_does) {
  constexpr int kSeconds = 2000;
  std::vector<int> counts(kSeconds);
  for (Schedule schedule(Arrivals::poisson, 100, 0, 11); schedule.due_ns() < to_ns(kSeconds);
       schedule.advance()) {
    ++counts[static_cast<size_t>(schedule.due_ns() / kNanosPerSecond)];
  }
  double sum = 0, squares = 0;
  for (const int count : counts) {
    sum += count;
    squares += static_cast<double>(count) * count;
  }
  const double mean = sum / kSeconds;
  const double variance = squares / kSeconds - mean * mean;
  EXPECT_NEAR(mean, 100, 5 * std::sqrt(100.0 / kSeconds));
  EXPECT_NEAR(variance, 100, 5 * 100 * std::sqrt(2.0 / kSeconds));
}

TEST(Schedule, the_seed_alone_decides_the_arrivals) {
  const auto same = gaps_ns(Schedule(Arrivals::poisson, 500, 0, 5), 1000);
  EXPECT_EQ(same, gaps_ns(Schedule(Arrivals::poisson, 500, 0, 5), 1000));
  EXPECT_NE(same, gaps_ns(Schedule(Arrivals::poisson, 500, 0, 6), 1000));
}

}  // namespace
}  // namespace headrace::load
