// Which flow a packet belongs to: addresses, protocol and, for TCP and UDP, ports.
#pragma once

#include <cstdint>
#include <span>

namespace headrace::link {

// A hash of 64 bits, taken for the flow itself: two flows of thousands share one with a chance of
// one in 10^12. What is no IP is flow 0.
uint64_t flow_of(std::span<const uint8_t> packet);

}  // namespace headrace::link
