#include "app/log_ring.h"

#include <algorithm>
#include <cstring>

namespace headrace::app {

void LogRing::copy_in(uint64_t at, const void* from, size_t bytes) {
  size_t begin = at % kBytes;
  size_t first = std::min(bytes, kBytes - begin);
  std::memcpy(bytes_.get() + begin, from, first);
  std::memcpy(bytes_.get(), static_cast<const char*>(from) + first, bytes - first);
}

void LogRing::copy_out(uint64_t at, void* to, size_t bytes) const {
  size_t begin = at % kBytes;
  size_t first = std::min(bytes, kBytes - begin);
  std::memcpy(to, bytes_.get() + begin, first);
  std::memcpy(static_cast<char*>(to) + first, bytes_.get(), bytes - first);
}

bool LogRing::push(uint32_t target, std::string_view line) {
  uint64_t written = written_.load(std::memory_order_relaxed);
  uint64_t used = written - read_.load(std::memory_order_acquire);
  if (used + sizeof(Header) + line.size() > kBytes) {
    dropped_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  Header header{static_cast<uint32_t>(line.size()), target};
  copy_in(written, &header, sizeof(header));
  copy_in(written + sizeof(header), line.data(), line.size());
  // In one order with the look whether the reader sleeps that follows, and on the reader's side
  // with the one whether there is a line: otherwise both could miss each other, and the line wait
  // for the next one.
  written_.store(written + sizeof(header) + line.size(), std::memory_order_seq_cst);
  return true;
}

bool LogRing::pop(uint32_t& target, std::string& line) {
  uint64_t read = read_.load(std::memory_order_relaxed);
  if (read == written_.load(std::memory_order_seq_cst)) return false;
  Header header;
  copy_out(read, &header, sizeof(header));
  target = header.target;
  line.resize(header.bytes);
  copy_out(read + sizeof(header), line.data(), header.bytes);
  read_.store(read + sizeof(header) + header.bytes, std::memory_order_release);
  return true;
}

}  // namespace headrace::app
