// What the connections of the mix do, drawn from a seeded distribution (written down in README.md).
#pragma once

#include <array>
#include <cstdint>

#include "random.h"

namespace headrace::load {

// A share of all draws, spread log-uniformly over [least, most].
struct SizeBand {
  double share;
  uint32_t least_bytes;
  uint32_t most_bytes;
};

// Answers of the web: many small, most bytes in the few large. The mean is 43 KB.
inline constexpr std::array kAnswerBands = {
    SizeBand{0.25, 200, 1024},
    SizeBand{0.33, 1024, 10 * 1024},
    SizeBand{0.27, 10 * 1024, 64 * 1024},
    SizeBand{0.12, 64 * 1024, 256 * 1024},
    SizeBand{0.03, 256 * 1024, 1024 * 1024},
};
// Bodies of the requests that have one: forms and calls, a few uploads. The mean is 8 KB.
inline constexpr std::array kBodyBands = {
    SizeBand{0.92, 100, 4000},
    SizeBand{0.08, 16 * 1024, 256 * 1024},
};
inline constexpr double kBodyShare = 0.15;

// Exchanges of one connection: a tenth of the connections serve one, the others a geometric number.
inline constexpr double kSingleExchangeShare = 0.1;
inline constexpr double kMeanExchanges = 25;

struct MixExchange {
  uint32_t answer_bytes;
  uint32_t body_bytes;
};

struct MixLife {
  uint32_t exchanges;
  bool half_close;  // with the last request the client shuts down its sending side
};

class MixPlan {
 public:
  MixPlan(uint64_t seed, double half_close_share, double think_seconds);

  MixExchange draw_exchange();
  MixLife draw_life();
  int64_t draw_think_ns();  // exponential
  uint64_t draw_below(uint64_t count) { return random_.below(count); }

 private:
  template <size_t N>
  uint32_t draw_size(const std::array<SizeBand, N>& bands);

  Random random_;
  double half_close_share_;
  double think_ns_;
};

}  // namespace headrace::load
