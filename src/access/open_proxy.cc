#include "access/open_proxy.h"

namespace headrace::access {

std::optional<std::string> open_proxy_fault(std::span<const Listener> listeners,
                                            const Options& options) {
  if (options.open || !options.allow.empty() || !options.users.empty()) return std::nullopt;
  for (const Listener& listener : listeners) {
    if (listener.address.unmapped().is_loopback()) continue;
    return "listening on " + listener.to_string() +
           " would let anyone who can reach it use this proxy; add --allow CIDR (which clients),"
           " --user NAME:PASSWORD (which people), or --open (everyone)";
  }
  return std::nullopt;
}

}  // namespace headrace::access
