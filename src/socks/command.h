// What the versions of SOCKS have in common.
#pragma once

#include <cstdint>

namespace headrace::socks {

// The first byte that a client sends.
inline constexpr uint8_t kVersion4 = 4;
inline constexpr uint8_t kVersion5 = 5;

enum class Command : uint8_t {
  connect = 1,
  bind = 2,
  udp_associate = 3,  // version 5 only
};

}  // namespace headrace::socks
