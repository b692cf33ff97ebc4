// The content of every body: a sequence of bytes that depends on the position alone, so that any
// part of it can be sent and checked without having been stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "fd.h"

namespace headrace::load {

// An odd number of pages: a buffer that is lost, doubled or swapped shifts the rest by a power of
// two, which is then visible, and a file of so many bytes can be sent over and over.
inline constexpr size_t kPatternPeriodBytes = size_t{257} * 4096;

class Pattern {
 public:
  // Ends the process where there is no memory for it: nothing can be measured then.
  Pattern();
  ~Pattern();
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  // The bytes from a position on; at least kPatternPeriodBytes of them are readable.
  const uint8_t* at(uint64_t position) const { return bytes_ + position % kPatternPeriodBytes; }

  bool matches(uint64_t position, std::span<const uint8_t> bytes) const;

  // A file of one period, for sendfile(2) from offset position % kPatternPeriodBytes on.
  int file() const { return file_.get(); }

 private:
  UniqueFd file_;
  uint8_t* bytes_ = nullptr;  // the file, mapped twice in a row
};

}  // namespace headrace::load
