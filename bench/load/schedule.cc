#include "schedule.h"

#include <cmath>

#include "clock.h"

namespace headrace::load {

Schedule::Schedule(Arrivals arrivals, double rate, int64_t start_ns, uint64_t seed)
    : arrivals_(arrivals),
      gap_ns_(static_cast<double>(kNanosPerSecond) / rate),
      start_ns_(start_ns),
      random_(seed),
      due_ns_(start_ns) {
  // A Poisson process has no arrival at its very start; a fixed one begins with one.
  if (arrivals_ == Arrivals::poisson) advance();
}

void Schedule::advance() {
  ++count_;
  if (arrivals_ == Arrivals::fixed) {
    // From the count, not from the arrival before: rounding must not add up to another rate.
    due_ns_ = start_ns_ + std::llround(static_cast<double>(count_) * gap_ns_);
  } else {
    elapsed_ns_ += random_.exponential(gap_ns_);
    due_ns_ = start_ns_ + std::llround(elapsed_ns_);
  }
}

}  // namespace headrace::load
