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

// What one key says must not make another one mean nothing.
void check_options(const config::Listener& listener, std::vector<std::string>& faults) {
  using session::Protocol;
  const session::ListenerOptions& options = listener.session;
  const bool is_sni = options.protocol == Protocol::sni;
  if (is_sni && !listener.access.connect_ports.contains(options.to_port))
    faults.push_back("to_port: " + std::to_string(options.to_port) +
                     " is none of connect_ports, so that every client would be refused; add it "
                     "there");
  // Others do not know what waits where their clients want to go, and it would not expect a header.
  if (options.send_proxy_protocol != preface::ProxyProtocol::off && !is_sni &&
      options.protocol != Protocol::relay)
    faults.push_back("send_proxy_protocol: only relay and sni can send it");
}

}  // namespace

std::optional<std::string> open_proxy_fault(const config::Listener& listener,
                                            std::span<const access::Listener> reachable) {
  // A relay leads to one place only, which its operator chose.
  if (listener.session.protocol == session::Protocol::relay) return std::nullopt;
  access::Exposure exposure;
  exposure.asks_for_users = listener.session.protocol != session::Protocol::sni;
  exposure.behind_a_proxy = !listener.session.accept_proxy_protocol.empty();
  return access::open_proxy_fault(reachable, listener.access, exposure);
}

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
    check_options(listener, faults);
    if (std::optional<std::string> fault = open_proxy_fault(listener, ip_addresses(listener)))
      faults.push_back(std::move(*fault));
  }
  return faults;
}

}  // namespace headrace::app
