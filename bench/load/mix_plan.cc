#include "mix_plan.h"

#include <cmath>

#include "clock.h"

namespace headrace::load {

MixPlan::MixPlan(uint64_t seed, double half_close_share, double think_seconds)
    : random_(seed),
      half_close_share_(half_close_share),
      think_ns_(static_cast<double>(to_ns(think_seconds))) {}

template <size_t N>
uint32_t MixPlan::draw_size(const std::array<SizeBand, N>& bands) {
  double left = random_.uniform();
  size_t band = 0;
  while (band + 1 < N && left >= bands[band].share) left -= bands[band++].share;
  return static_cast<uint32_t>(
      random_.log_uniform(bands[band].least_bytes, bands[band].most_bytes));
}

MixExchange MixPlan::draw_exchange() {
  MixExchange exchange{draw_size(kAnswerBands), 0};
  if (random_.chance(kBodyShare)) exchange.body_bytes = draw_size(kBodyBands);
  return exchange;
}

MixLife MixPlan::draw_life() {
  MixLife life{1, random_.chance(half_close_share_)};
  if (!random_.chance(kSingleExchangeShare)) {
    // Geometric from 1 on: the whole part of an exponential, whose mean makes the mean right.
    static const double kRate = -std::log1p(-1 / kMeanExchanges);
    life.exchanges += static_cast<uint32_t>(random_.exponential(1 / kRate));
  }
  return life;
}

int64_t MixPlan::draw_think_ns() {
  return std::llround(random_.exponential(think_ns_));
}

}  // namespace headrace::load
