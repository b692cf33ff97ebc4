// Latencies in buckets a sixteenth of a power of two wide, as HdrHistogram has them: any time from
// a nanosecond to centuries, one increment per value, a fixed 8 KB.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace headrace::load {

class Histogram {
 public:
  // Negative values (a clock read before the schedule it is compared with) count as zero.
  void record(int64_t value);

  uint64_t count() const { return count_; }
  int64_t max() const { return max_; }
  double mean() const;

  // The smallest value that at least `share` (0 to 1) of the values do not exceed, rounded down to
  // the lower edge of its bucket: never too high, too low by less than a sixteenth. 0 when empty.
  int64_t percentile(double share) const;

 private:
  static constexpr int kSubBits = 4;  // 16 buckets per power of two
  static constexpr size_t kBuckets = size_t{64 - kSubBits} << kSubBits;

  static size_t bucket_of(uint64_t value);
  static uint64_t lower_edge(size_t bucket);

  std::array<uint64_t, kBuckets> counts_{};
  uint64_t count_ = 0;
  int64_t max_ = 0;
  double sum_ = 0;
};

}  // namespace headrace::load
