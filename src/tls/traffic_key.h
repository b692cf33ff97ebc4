// The key of one way of a TLS 1.3 connection, as whoever makes or opens its records needs it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/bytes.h"

namespace headrace::tls {

// RFC 8446 section B.4.
constexpr uint16_t kAes128Gcm = 0x1301;
constexpr uint16_t kAes256Gcm = 0x1302;
constexpr uint16_t kChaCha20Poly1305 = 0x1303;

struct TrafficKey {
  uint16_t suite = 0;
  std::array<uint8_t, 32> key{};  // as many as the suite's key has
  std::array<uint8_t, 12> iv{};
  uint64_t sequence = 0;  // of the next record

  TrafficKey() = default;
  TrafficKey(const TrafficKey&) = default;
  TrafficKey& operator=(const TrafficKey&) = default;
  ~TrafficKey();  // leaves nothing in memory
};

// Of a traffic secret (RFC 8446 section 7.3); nothing for another suite than these three.
std::optional<TrafficKey> make_traffic_key(uint16_t suite, ByteSpan secret, uint64_t sequence);

}  // namespace headrace::tls
