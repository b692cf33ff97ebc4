// A number that one thread raises and any thread may read: no locked instruction, no lost update.
#pragma once

#include <atomic>
#include <cstdint>

namespace headrace {

class Counter {
 public:
  void add(uint64_t by = 1) {
    value_.store(value_.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }
  uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

}  // namespace headrace
