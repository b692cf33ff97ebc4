#include "mix_plan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "clock.h"

namespace headrace::load {
namespace {

constexpr int kDraws = 400'000;

template <size_t N>
double mean_of(const std::array<SizeBand, N>& bands) {
  double mean = 0;
  for (const SizeBand& band : bands) {
    const double low = band.least_bytes, high = band.most_bytes;
    mean += band.share * (high - low) / std::log(high / low);
  }
  return mean;
}

TEST(MixPlan, shares_of_all_bands_add_up_to_one) {
  double answers = 0, bodies = 0;
  for (const SizeBand& band : kAnswerBands) answers += band.share;
  for (const SizeBand& band : kBodyBands) bodies += band.share;
  EXPECT_DOUBLE_EQ(answers, 1);
  EXPECT_DOUBLE_EQ(bodies, 1);
}

TEST(MixPlan, answers_fall_into_the_bands_by_their_shares) {
  MixPlan plan(1, 0, 0);
  std::vector<int> counts(kAnswerBands.size());
  for (int i = 0; i < kDraws; ++i) {
    const uint32_t bytes = plan.draw_exchange().answer_bytes;
    ASSERT_GE(bytes, kAnswerBands.front().least_bytes);
    ASSERT_LE(bytes, kAnswerBands.back().most_bytes);
    size_t band = 0;
    while (bytes >= kAnswerBands[band].most_bytes && band + 1 < counts.size()) ++band;
    ++counts[band];
  }
  for (size_t band = 0; band < counts.size(); ++band) {
    const double share = kAnswerBands[band].share;
    const double error = std::sqrt(share * (1 - share) / kDraws);
    EXPECT_NEAR(counts[band] / double{kDraws}, share, 5 * error) << "band " << band;
  }
}

TEST(MixPlan, mean_sizes_are_those_that_the_readme_says) {
  EXPECT_NEAR(mean_of(kAnswerBands), 43'600, 500);
  EXPECT_NEAR(mean_of(kBodyBands), 8'000, 500);
  MixPlan plan(2, 0, 0);
  double answers = 0, bodies = 0;
  int with_body = 0;
  for (int i = 0; i < kDraws; ++i) {
    const MixExchange exchange = plan.draw_exchange();
    answers += exchange.answer_bytes;
    bodies += exchange.body_bytes;
    with_body += exchange.body_bytes > 0;
  }
  EXPECT_NEAR(answers / kDraws, mean_of(kAnswerBands), 0.02 * mean_of(kAnswerBands));
  EXPECT_NEAR(with_body / double{kDraws}, kBodyShare, 0.003);
  EXPECT_NEAR(bodies / with_body, mean_of(kBodyBands), 0.04 * mean_of(kBodyBands));
}

TEST(MixPlan, a_tenth_of_the_connections_serve_one_exchange_the_others_25_in_the_mean) {
  MixPlan plan(3, 0, 0);
  double exchanges = 0;
  int singles = 0;
  for (int i = 0; i < kDraws; ++i) {
    const MixLife life = plan.draw_life();
    ASSERT_GE(life.exchanges, 1u);
    exchanges += life.exchanges;
    singles += life.exchanges == 1;
  }
  const double single_share = kSingleExchangeShare + (1 - kSingleExchangeShare) / kMeanExchanges;
  const double mean = kSingleExchangeShare + (1 - kSingleExchangeShare) * kMeanExchanges;
  EXPECT_NEAR(singles / double{kDraws}, single_share, 0.003);
  EXPECT_NEAR(exchanges / kDraws, mean, 0.01 * mean);
}

TEST(MixPlan, half_closing_clients_and_think_times_are_as_frequent_and_long_as_asked) {
  MixPlan plan(4, 0.05, 0.020);
  int half_closing = 0;
  double thought_ns = 0;
  for (int i = 0; i < kDraws; ++i) {
    half_closing += plan.draw_life().half_close;
    thought_ns += static_cast<double>(plan.draw_think_ns());
  }
  EXPECT_NEAR(half_closing / double{kDraws}, 0.05, 0.002);
  EXPECT_NEAR(thought_ns / kDraws, 20e6, 0.2e6);
}

TEST(MixPlan, the_seed_alone_decides_the_mix) {
  const auto sizes = [](uint64_t seed) {
    MixPlan plan(seed, 0.05, 0.02);
    std::vector<uint32_t> drawn;
    for (int i = 0; i < 1000; ++i) {
      drawn.push_back(plan.draw_exchange().answer_bytes);
      drawn.push_back(plan.draw_life().exchanges);
    }
    return drawn;
  };
  EXPECT_EQ(sizes(9), sizes(9));
  EXPECT_NE(sizes(9), sizes(10));
}

}  // namespace
}  // namespace headrace::load
