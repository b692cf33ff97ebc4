// One IP packet on its way.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

namespace headrace::link {

class Packet {
 public:
  explicit Packet(std::span<const uint8_t> bytes)
      : bytes_(std::make_unique_for_overwrite<uint8_t[]>(bytes.size())), length_(bytes.size()) {
    std::memcpy(bytes_.get(), bytes.data(), bytes.size());
  }
  std::span<const uint8_t> bytes() const { return {bytes_.get(), length_}; }
  size_t size() const { return length_; }

 private:
  std::unique_ptr<uint8_t[]> bytes_;
  size_t length_;
};

// How long so many bytes are on a wire of this rate.
inline int64_t wire_time_ns(size_t bytes, double rate_bits) {
  return rate_bits > 0 ? static_cast<int64_t>(8e9 * static_cast<double>(bytes) / rate_bits) : 0;
}

}  // namespace headrace::link
