#include "pattern.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "random.h"

namespace headrace::load {
namespace {

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

void map_at(uint8_t* where, int file) {
  void* mapped =
      ::mmap(where, kPatternPeriodBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
  if (mapped == MAP_FAILED) fail("mmap");
}

}  // namespace

Pattern::Pattern() : file_(::memfd_create("pattern", MFD_CLOEXEC)) {
  if (!file_) fail("memfd_create");
  if (::ftruncate(file_.get(), kPatternPeriodBytes) != 0) fail("ftruncate");
  void* room =
      ::mmap(nullptr, 2 * kPatternPeriodBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) fail("mmap");
  bytes_ = static_cast<uint8_t*>(room);
  map_at(bytes_, file_.get());
  map_at(bytes_ + kPatternPeriodBytes, file_.get());
  for (uint64_t word = 0; word < kPatternPeriodBytes / sizeof(uint64_t); ++word) {
    const uint64_t value = splitmix64(word);
    for (size_t i = 0; i < sizeof(value); ++i) {
      bytes_[word * sizeof(value) + i] = static_cast<uint8_t>(value >> (8 * i));
    }
  }
}

Pattern::~Pattern() {
  ::munmap(bytes_, 2 * kPatternPeriodBytes);
}

bool Pattern::matches(uint64_t position, std::span<const uint8_t> bytes) const {
  while (!bytes.empty()) {
    const size_t length = std::min(bytes.size(), kPatternPeriodBytes);
    if (std::memcmp(at(position), bytes.data(), length) != 0) return false;
    position += length;
    bytes = bytes.subspan(length);
  }
  return true;
}

}  // namespace headrace::load
