// The inside guard: a client from elsewhere must not reach, through us, what only this host and its
// networks can reach: services on loopback, cloud metadata, the private net behind the proxy.
#pragma once

#include <cstdint>

#include "base/ip.h"

namespace headrace::access {

enum class Reach : uint8_t {
  outside,        // an address of the internet
  inside,         // loopback, link-local, unspecified, multicast: never for clients from elsewhere
  private_range,  // RFC 1918, RFC 4193, RFC 6598: for them only where the operator says so
};

// A mapped, compatible or translated address (::ffff:0:0/96, ::/96, ::ffff:0:0:0/96, 64:ff9b::/96,
// 2002::/16) counts as the IPv4 address that it wraps. A mapped one is dialled as IPv4 by the
// kernel; the others are routed to whatever translates them (a NAT64, a 6to4 relay, often this host
// itself), which unpacks the IPv4 address and delivers there, so the guard would be as good as
// absent.
Reach reach_of(const IpAddress& destination);

}  // namespace headrace::access
