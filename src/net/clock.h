// Time as the program sees it: microseconds of the monotonic clock. Code takes a Clock; tests move
// one.
#pragma once

#include <chrono>
#include <ctime>

namespace headrace::net {

using Duration = std::chrono::microseconds;
struct MonotonicTag {
  using rep = Duration::rep;
  using period = Duration::period;
  using duration = Duration;
  static constexpr bool is_steady = true;
};
using Instant = std::chrono::time_point<MonotonicTag, Duration>;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Instant now() const = 0;
};

class SystemClock final : public Clock {
 public:
  Instant now() const override {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return Instant(std::chrono::seconds(time.tv_sec) + Duration(time.tv_nsec / 1000));
  }
};

class ManualClock final : public Clock {
 public:
  Instant now() const override { return now_; }
  void advance(Duration by) { now_ += by; }

 private:
  Instant now_{std::chrono::seconds(1)};
};

}  // namespace headrace::net
