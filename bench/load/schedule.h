// When the exchanges of an open loop are due. Known in advance and independent of how the load
// answers: a slow proxy meets the same arrivals as a fast one.
#pragma once

#include <cstdint>

#include "random.h"

namespace headrace::load {

enum class Arrivals : uint8_t {
  fixed,    // exactly 1/rate apart
  poisson,  // independent of each other: exponential gaps of mean 1/rate
};

class Schedule {
 public:
  Schedule(Arrivals arrivals, double rate, int64_t start_ns, uint64_t seed);

  int64_t due_ns() const { return due_ns_; }
  void advance();

 private:
  Arrivals arrivals_;
  double gap_ns_;
  int64_t start_ns_;
  Random random_;
  uint64_t count_ = 0;     // arrivals behind us
  double elapsed_ns_ = 0;  // poisson: from the start to the next arrival
  int64_t due_ns_;
};

}  // namespace headrace::load
