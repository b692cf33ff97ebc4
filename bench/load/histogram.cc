#include "histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace headrace::load {

// Values below 16 have a bucket each; above, the four bits behind the leading one choose among the
// 16 of its power of two.
size_t Histogram::bucket_of(uint64_t value) {
  constexpr uint64_t kExact = uint64_t{1} << kSubBits;
  if (value < kExact) return value;
  const auto shift = static_cast<int>(std::bit_width(value)) - 1 - kSubBits;
  return (static_cast<size_t>(shift) << kSubBits) + (value >> shift);
}

uint64_t Histogram::lower_edge(size_t bucket) {
  constexpr size_t kExact = size_t{1} << kSubBits;
  if (bucket < 2 * kExact) return bucket;
  const size_t shift = (bucket >> kSubBits) - 1;
  return ((bucket & (kExact - 1)) | kExact) << shift;
}

void Histogram::record(int64_t value) {
  value = std::max<int64_t>(value, 0);
  ++counts_[bucket_of(static_cast<uint64_t>(value))];
  ++count_;
  max_ = std::max(max_, value);
  sum_ += static_cast<double>(value);
}

double Histogram::mean() const {
  return count_ == 0 ? 0 : sum_ / static_cast<double>(count_);
}

int64_t Histogram::percentile(double share) const {
  if (count_ == 0) return 0;
  const double rank = std::ceil(share * static_cast<double>(count_));
  const uint64_t wanted = std::clamp<uint64_t>(static_cast<uint64_t>(rank), 1, count_);
  uint64_t seen = 0;
  for (size_t bucket = 0; bucket < kBuckets; ++bucket) {
    seen += counts_[bucket];
    if (seen >= wanted) return static_cast<int64_t>(lower_edge(bucket));
  }
  return max_;
}

}  // namespace headrace::load
