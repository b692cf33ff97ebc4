#include "app/check_settings.h"

#include <optional>
#include <set>

#include "access/open_proxy.h"
#include "config/words.h"
#include "net/endpoint.h"

namespace headrace::app {
namespace {

// The IP addresses of a listener, as the open-proxy guard sees them.
std::vector<access::Listener> ip_addresses(const config::Listener& listener) {
  constexpr uint8_t kAllAddresses[16] = {};
  std::vector<access::Listener> addresses;
  for (const std::string& text : listener.listen) {
    const std::optional<net::ListenAddress> address = net::ListenAddress::parse(text);
    if (!address || address->is_unix()) continue;
    const IpAddress ip =
        address->all_addresses ? IpAddress::v6(kAllAddresses) : address->endpoint.address;
    addresses.push_back({ip, address->endpoint.port});
  }
  return addresses;
}

}  // namespace

std::vector<std::string> check_addresses(const config::Settings& settings) {
  std::vector<std::string> faults;
  std::set<std::string> seen;
  for (const config::Listener& listener : settings.listeners) {
    for (const std::string& text : listener.listen) {
      const std::optional<net::ListenAddress> address = net::ListenAddress::parse(text);
      if (!address) {
        faults.push_back(config::in_quotes(text) +
                         " is no address to listen on; write IP:PORT, [IPV6]:PORT, :PORT (all "
                         "addresses), unix:/PATH or unix:@NAME");
        continue;
      }
      // The kernel would not mind: workers share ports on purpose (SO_REUSEPORT).
      const bool takes_a_free_port = !address->is_unix() && address->endpoint.port == 0;
      if (!takes_a_free_port && !seen.insert(address->to_string()).second)
        faults.push_back(config::in_quotes(text) + " is given twice");
    }
  }
  return faults;
}

std::vector<std::string> check_settings(const config::Settings& settings) {
  std::vector<std::string> faults = check_addresses(settings);
  for (const config::Listener& listener : settings.listeners) {
    // A relay leads to one place only, which its operator chose.
    if (listener.session.protocol == session::Protocol::relay) continue;
    if (std::optional<std::string> fault =
            access::open_proxy_fault(ip_addresses(listener), listener.access))
      faults.push_back(std::move(*fault));
  }
  return faults;
}

}  // namespace headrace::app
