// Log lines on their way from one worker to the writer thread: a ring of bytes with one writer and
// one reader, without locks. A ring that is full drops the line and counts it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace headrace::app {

class LogRing {
 public:
  static constexpr size_t kBytes = 256 * 1024;  // a power of two

  LogRing() : bytes_(std::make_unique_for_overwrite<char[]>(kBytes)) {}

  // Writer side. False when it did not fit.
  bool push(uint32_t target, std::string_view line);
  // Reader side: the next line, or false.
  bool pop(uint32_t& target, std::string& line);

  uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  struct Header {
    uint32_t bytes;
    uint32_t target;
  };
  void copy_in(uint64_t at, const void* from, size_t bytes);
  void copy_out(uint64_t at, void* to, size_t bytes) const;

  std::unique_ptr<char[]> bytes_;
  alignas(64) std::atomic<uint64_t> written_{0};
  alignas(64) std::atomic<uint64_t> read_{0};
  std::atomic<uint64_t> dropped_{0};
};

}  // namespace headrace::app
