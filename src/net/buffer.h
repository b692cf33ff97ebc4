// Bytes that wait: what a socket would not take yet. Allocated when there is something to keep,
// exactly as long as that, and gone when it has left; an idle connection has none.
#pragma once

#include <algorithm>
#include <memory>

#include "base/bytes.h"
#include "base/check.h"

namespace headrace::net {

class Residue {
 public:
  bool empty() const { return begin_ == end_; }
  size_t size() const { return end_ - begin_; }
  ByteSpan bytes() const { return {data_.get() + begin_, size()}; }

  // Appends; what was there stays in front.
  void append(ByteSpan more) { join(bytes(), more); }
  // Puts in front of what is there.
  void prepend(ByteSpan earlier) { join(earlier, bytes()); }
  void consume(size_t bytes) {
    HEADRACE_ASSERT(bytes <= size());
    begin_ += static_cast<uint32_t>(bytes);
    if (empty()) clear();
  }
  void clear() {
    data_.reset();
    begin_ = end_ = 0;
  }

 private:
  // One of the two is what we hold.
  void join(ByteSpan first, ByteSpan second) {
    const size_t total = first.size() + second.size();
    if (total == size()) return;
    HEADRACE_ASSERT(total <= UINT32_MAX);
    auto data = std::make_unique_for_overwrite<uint8_t[]>(total);
    std::copy(first.begin(), first.end(), data.get());
    std::copy(second.begin(), second.end(), data.get() + first.size());
    data_ = std::move(data);
    begin_ = 0;
    end_ = static_cast<uint32_t>(total);
  }

  std::unique_ptr<uint8_t[]> data_;
  uint32_t begin_ = 0;
  uint32_t end_ = 0;
};
static_assert(sizeof(Residue) == 16);

}  // namespace headrace::net
