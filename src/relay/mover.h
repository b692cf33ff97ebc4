// What a worker lends to all its directions: the one buffer that everything is received into, the
// pipes, and the place where small receipts wait for the second phase of a turn.
//
// Two phases: while a turn's ready sessions run, small receipts are only parked in the buffer; when
// all have received, all send. The kernel's receive path and its send path then each run in a row,
// which measured 8 % less CPU per 1 KB exchange than alternating (design.md section 5).
#pragma once

#include <cstdint>
#include <memory>

#include "base/bytes.h"
#include "base/check.h"
#include "net/pipe.h"

namespace headrace::relay {

class Mover {
 public:
  // One receive takes at most so much.
  static constexpr size_t kScratchBytes = 128 * 1024;
  // Parked in one turn; what comes beyond is sent at once.
  static constexpr size_t kParkedBytesMax = 128 * 1024;

  Mover() : buffer_(std::make_unique_for_overwrite<uint8_t[]>(kParkedBytesMax + kScratchBytes)) {}

  // Free for one receive; nothing stays in it between two calls but what is parked.
  MutableByteSpan scratch() { return {buffer_.get() + parked_end_, kScratchBytes}; }

  // The bytes just received at the front of scratch() stay there until unpark(). False where they
  // must be sent at once: in the second phase, or when there is no more room.
  bool park(size_t bytes) {
    if (!parking || parked_end_ + bytes > kParkedBytesMax) return false;
    parked_end_ += bytes;
    ++parked_count_;
    return true;
  }
  // Where the next park() will put its bytes, and the bytes of an earlier one.
  uint32_t parked_end() const { return static_cast<uint32_t>(parked_end_); }
  ByteSpan parked(uint32_t begin, uint32_t bytes) const { return {buffer_.get() + begin, bytes}; }
  void unpark() {
    HEADRACE_ASSERT(parked_count_ > 0);
    if (--parked_count_ == 0) parked_end_ = 0;
  }

  bool parking = false;  // the first phase of a turn
  net::PipePool pipes;

  // Of this worker, in all.
  uint64_t copied_bytes = 0;
  uint64_t spliced_bytes = 0;

 private:
  std::unique_ptr<uint8_t[]> buffer_;
  size_t parked_end_ = 0;
  size_t parked_count_ = 0;
};

}  // namespace headrace::relay
