#include "flow.h"

#include <algorithm>

#include "random.h"

namespace headrace::link {
namespace {

constexpr uint8_t kTcp = 6;
constexpr uint8_t kUdp = 17;
constexpr size_t kIpv4HeadBytes = 20;
constexpr size_t kIpv6HeadBytes = 40;
constexpr size_t kPortsBytes = 4;

uint64_t mix(uint64_t hash, std::span<const uint8_t> bytes) {
  for (size_t at = 0; at < bytes.size(); at += sizeof(uint64_t)) {
    uint64_t word = 0;
    for (const uint8_t byte : bytes.subspan(at, std::min(sizeof(word), bytes.size() - at))) {
      word = (word << 8) | byte;
    }
    hash = load::splitmix64(hash ^ word);
  }
  return hash;
}

uint64_t flow_from(std::span<const uint8_t> packet, std::span<const uint8_t> addresses,
                   uint8_t protocol, size_t payload_at) {
  uint64_t hash = mix(protocol, addresses);
  const bool has_ports = protocol == kTcp || protocol == kUdp;
  if (has_ports && packet.size() >= payload_at + kPortsBytes) {
    hash = mix(hash, packet.subspan(payload_at, kPortsBytes));
  }
  return hash;
}

}  // namespace

uint64_t flow_of(std::span<const uint8_t> packet) {
  if (packet.empty()) return 0;
  const int version = packet[0] >> 4;
  if (version == 4 && packet.size() >= kIpv4HeadBytes) {
    // Behind the first fragment there are no ports; such fragments go by addresses alone.
    const bool is_later_fragment = (packet[6] & 0x1f) != 0 || packet[7] != 0;
    const size_t head_bytes = is_later_fragment ? packet.size() : size_t{4} * (packet[0] & 0x0f);
    return flow_from(packet, packet.subspan(12, 8), packet[9], head_bytes);
  }
  if (version == 6 && packet.size() >= kIpv6HeadBytes) {
    return flow_from(packet, packet.subspan(8, 32), packet[6], kIpv6HeadBytes);
  }
  return 0;
}

}  // namespace headrace::link
