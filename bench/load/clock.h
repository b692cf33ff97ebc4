// The one clock of the bench programs: monotonic nanoseconds.
#pragma once

#include <time.h>

#include <cstdint>
#include <limits>

namespace headrace::load {

inline constexpr int64_t kNanosPerSecond = 1'000'000'000;
inline constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

inline int64_t now_ns() {
  timespec t;
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * kNanosPerSecond + t.tv_nsec;
}

inline int64_t to_ns(double seconds) {
  return static_cast<int64_t>(seconds * static_cast<double>(kNanosPerSecond));
}
inline double to_seconds(int64_t ns) {
  return static_cast<double>(ns) / static_cast<double>(kNanosPerSecond);
}

}  // namespace headrace::load
