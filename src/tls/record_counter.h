// Counts the records in a stream of cipher bytes, which comes in pieces of any size: who takes over
// a connection has to know the number of the next record, and to begin with a whole one (RFC 8446
// sections 5.1 and 5.3).
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/bytes.h"

namespace headrace::tls {

class RecordCounter {
 public:
  static constexpr uint8_t kHeadBytes = 5;

  void count(ByteSpan bytes) {
    while (!bytes.empty()) {
      if (head_bytes_ < kHeadBytes) {
        body_bytes_ = body_bytes_ << 8 | bytes[0];  // the last two bytes of the head remain
        bytes = bytes.subspan(1);
        if (++head_bytes_ < kHeadBytes) continue;
        body_bytes_ &= 0xFFFF;
      }
      const size_t taken = std::min<size_t>(body_bytes_, bytes.size());
      body_bytes_ -= static_cast<uint32_t>(taken);
      bytes = bytes.subspan(taken);
      if (body_bytes_ > 0) continue;
      ++records_;
      head_bytes_ = 0;
    }
  }

  // Whole ones.
  uint64_t records() const { return records_; }
  // What is missing of the record that has begun, or of its head: 0 between two records.
  size_t missing_bytes() const {
    if (head_bytes_ == 0) return 0;
    return head_bytes_ < kHeadBytes ? size_t{kHeadBytes} - head_bytes_ : body_bytes_;
  }

 private:
  uint64_t records_ = 0;
  uint32_t body_bytes_ = 0;  // still to come; while the head is read, what was read of it
  uint8_t head_bytes_ = 0;
};

}  // namespace headrace::tls
