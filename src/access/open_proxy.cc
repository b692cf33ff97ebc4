#include "access/open_proxy.h"

#include <algorithm>

namespace headrace::access {

std::optional<std::string> open_proxy_fault(std::span<const Listener> listeners,
                                            const Options& options, Exposure exposure) {
  const bool has_users = exposure.asks_for_users && !options.users.empty();
  if (options.open || !options.allow.empty() || has_users) return std::nullopt;
  const auto reachable = std::find_if(
      listeners.begin(), listeners.end(),
      [](const Listener& listener) { return !listener.address.unmapped().is_loopback(); });
  std::string fault;
  if (reachable != listeners.end())
    fault = "listening on " + reachable->to_string() +
            " would let anyone who can reach it use this proxy";
  else if (exposure.behind_a_proxy)
    fault = "accept_proxy_protocol would let anyone who can reach the proxy in front use this one";
  else
    return std::nullopt;
  fault += "; add --allow CIDR (which clients), ";
  if (exposure.asks_for_users) fault += "--user NAME:PASSWORD (which people), ";
  return fault + "or --open (everyone)";
}

}  // namespace headrace::access
