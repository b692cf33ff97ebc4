// Packets for tests: IPv4 and UDP as far as the link looks at them.
#pragma once

#include <cstdint>
#include <vector>

namespace headrace::link {

inline constexpr uint8_t kUdpProtocol = 17;

inline std::vector<uint8_t> udp_packet(size_t bytes, uint16_t from_port, uint16_t to_port = 80) {
  std::vector<uint8_t> packet(bytes, 0);
  packet[0] = 0x45;
  packet[9] = kUdpProtocol;
  packet[12] = 10;
  packet[15] = 1;
  packet[16] = 10;
  packet[19] = 2;
  packet[20] = static_cast<uint8_t>(from_port >> 8);
  packet[21] = static_cast<uint8_t>(from_port);
  packet[22] = static_cast<uint8_t>(to_port >> 8);
  packet[23] = static_cast<uint8_t>(to_port);
  return packet;
}

}  // namespace headrace::link
