// Splits of an input, for fuzz targets: whatever the split, the outcome must be that of the whole.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "http/head.h"

namespace headrace::http {

// Lengths of pieces, from 1 to 32 bytes and now and then long; the same ones for the same input.
class PieceLengths {
 public:
  explicit PieceLengths(std::string_view input) {
    for (char c : input.substr(0, 64)) state_ = state_ * 31 + static_cast<uint8_t>(c);
  }
  size_t next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    uint32_t random = static_cast<uint32_t>(state_ >> 33);
    return random % 8 == 0 ? random % 4096 + 1 : random % 32 + 1;
  }

 private:
  uint64_t state_ = 1;
};

// Gives a head to `parse` piece by piece, each time in an allocation of exactly that size, and
// compares with what came of the whole. An incomplete head may be refused earlier or later in
// pieces.
template <class Head, class ParseFunction>
void check_in_pieces(std::string_view bytes, const HeadParse& whole, ParseFunction parse,
                     Head head) {
  PieceLengths lengths(bytes);
  HeadCursor cursor;
  for (size_t came = 0; came < bytes.size();) {
    came = std::min(bytes.size(), came + lengths.next());
    std::vector<char> part(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(came));
    HeadParse step = parse({part.data(), part.size()}, cursor, head);
    if (step.needs_more()) continue;
    HEADRACE_ASSERT(step.failed() == whole.failed());
    if (step) HEADRACE_ASSERT(whole && step.consumed_bytes() == whole.consumed_bytes());
    return;
  }
  HEADRACE_ASSERT(bytes.empty() || whole.needs_more());
}

}  // namespace headrace::http
