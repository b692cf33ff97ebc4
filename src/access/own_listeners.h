// Which destinations are this proxy itself. A request that came back to us would come again and
// again, each time with a connection more, until nothing is left.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ip.h"

namespace headrace::access {

// An address and port that we accept connections on; 0.0.0.0 is all of IPv4, :: all of both
// families.
struct Listener {
  IpAddress address;
  uint16_t port = 0;

  std::string to_string() const;
};

class OwnListeners {
 public:
  OwnListeners() = default;
  // `host_addresses`: those of this host's interfaces, which a wildcard listener answers on as well
  // as on loopback.
  OwnListeners(std::vector<Listener> listeners, std::vector<IpAddress> host_addresses);

  // Whether a connection to there would end at one of them; wrapped addresses as in inside.h.
  bool is_own(const IpAddress& address, uint16_t port) const;

 private:
  std::vector<Listener> listeners_;
  std::vector<IpAddress> host_addresses_;
};

}  // namespace headrace::access
