#include "access/own_listeners.h"

#include <algorithm>
#include <utility>

#include "base/target.h"

namespace headrace::access {
namespace {

constexpr uint32_t kIpv4Loopback = 0x7f000001;

bool is_wildcard(const IpAddress& address) {
  return address == IpAddress() || (!address.is_v4() && address.is_unspecified());
}

// Where the kernel goes when it is told to connect to `address`: a wildcard means loopback.
IpAddress reached_by(const IpAddress& address) {
  const IpAddress meant = address.unwrapped();
  if (!is_wildcard(meant)) return meant;
  if (meant.is_v4()) return IpAddress::v4(kIpv4Loopback);
  constexpr uint8_t kIpv6Loopback[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  return IpAddress::v6(kIpv6Loopback);
}

bool covers_family(const IpAddress& wildcard, const IpAddress& address) {
  return !wildcard.is_v4() || address.is_v4();
}

}  // namespace

std::string Listener::to_string() const {
  return Target{Host(address), port}.to_string();
}

OwnListeners::OwnListeners(std::vector<Listener> listeners, std::vector<IpAddress> host_addresses)
    : listeners_(std::move(listeners)), host_addresses_(std::move(host_addresses)) {
  for (Listener& listener : listeners_) listener.address = listener.address.unmapped();
  for (IpAddress& address : host_addresses_) address = address.unmapped();
}

bool OwnListeners::is_own(const IpAddress& address, uint16_t port) const {
  const IpAddress reached = reached_by(address);
  const bool on_this_host =
      reached.is_loopback() ||
      std::find(host_addresses_.begin(), host_addresses_.end(), reached) != host_addresses_.end();
  return std::any_of(listeners_.begin(), listeners_.end(), [&](const Listener& listener) {
    if (listener.port != port) return false;
    if (is_wildcard(listener.address))
      return on_this_host && covers_family(listener.address, reached);
    return listener.address == reached;
  });
}

}  // namespace headrace::access
