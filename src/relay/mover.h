// What a worker lends to all its directions: the one buffer that everything is received into, the
// pipes, and the place where small receipts wait for the second phase of a turn.
//
// Two phases: while a turn's ready sessions run, small receipts are only parked in the buffer; when
// all have received, all send. The kernel's receive path and its send path then each run in a row
// (docs/decisions/0003-two-phases.md).
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>

#include "base/bytes.h"
#include "base/check.h"
#include "net/pipe.h"

namespace headrace::relay {

class Mover {
 public:
  // One receive takes at most so much.
  static constexpr size_t kScratchBytes = 128 * 1024;
  // Parked in one turn, received as it is and made by us; what comes beyond is sent at once.
  static constexpr size_t kParkedBytesMax = 128 * 1024;
  static constexpr size_t kStagedBytesMax = 128 * 1024;

  Mover()
      : buffer_(std::make_unique_for_overwrite<uint8_t[]>(kParkedBytesMax + kScratchBytes +
                                                          kStagedBytesMax)) {}

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
  // Parks a copy of bytes that lie elsewhere, such as a head that was written anew, and says where.
  // Nothing where park() would say false.
  std::optional<uint32_t> park_copy(std::span<const ByteSpan> pieces) {
    size_t bytes = 0;
    for (ByteSpan piece : pieces) bytes += piece.size();
    if (!parking || staged_bytes_ + bytes > kStagedBytesMax) return std::nullopt;
    const size_t begin = kParkedBytesMax + kScratchBytes + staged_bytes_;
    for (ByteSpan piece : pieces) {
      if (!piece.empty())
        std::memcpy(&buffer_[kParkedBytesMax + kScratchBytes + staged_bytes_], piece.data(),
                    piece.size());
      staged_bytes_ += piece.size();
    }
    ++parked_count_;
    return static_cast<uint32_t>(begin);
  }
  // Where the next park() will put its bytes, and the bytes of an earlier one.
  uint32_t parked_end() const { return static_cast<uint32_t>(parked_end_); }
  ByteSpan parked(uint32_t begin, uint32_t bytes) const { return {buffer_.get() + begin, bytes}; }
  void unpark() {
    HEADRACE_ASSERT(parked_count_ > 0);
    if (--parked_count_ == 0) parked_end_ = staged_bytes_ = 0;
  }

  bool parking = false;  // the first phase of a turn
  net::PipePool pipes;

  // Of this worker, in all.
  uint64_t copied_bytes = 0;
  uint64_t spliced_bytes = 0;
  uint64_t moved_bytes() const { return copied_bytes + spliced_bytes; }

 private:
  // What is parked, then the scratch behind it, up to kParkedBytesMax + kScratchBytes; then copies.
  std::unique_ptr<uint8_t[]> buffer_;
  size_t parked_end_ = 0;
  size_t staged_bytes_ = 0;
  size_t parked_count_ = 0;
};

// While it lives, small receipts are parked, if it is the first phase of a turn. Who made it has to
// run again in the second.
class ParkingScope {
 public:
  ParkingScope(Mover& mover, bool first_phase) : mover_(mover) { mover_.parking = first_phase; }
  ~ParkingScope() { mover_.parking = false; }
  ParkingScope(const ParkingScope&) = delete;
  ParkingScope& operator=(const ParkingScope&) = delete;

 private:
  Mover& mover_;
};

}  // namespace headrace::relay
