#include "access/policy.h"

#include <algorithm>
#include <utility>

#include "access/inside.h"

namespace headrace::access {
namespace {

std::optional<IpAddress> known_address(const Request& request) {
  if (request.address) return request.address;
  if (request.target.host.is_name()) return std::nullopt;
  return request.target.host.address();
}

}  // namespace

Policy::Policy(Options options, OwnListeners own_listeners)
    : options_(std::move(options)), own_listeners_(std::move(own_listeners)) {}

bool Policy::may_client_connect(const Client& client) const {
  if (!client.address || options_.allow.empty()) return true;
  return std::any_of(options_.allow.begin(), options_.allow.end(),
                     [&](const IpNetwork& network) { return network.contains(*client.address); });
}

Verdict Policy::judge(const Request& request) const {
  if (request.how != How::relay)
    if (const std::optional<Errc> refusal = judge_client(request)) return {refusal};
  if (const std::optional<Errc> refusal = judge_port(request)) return {refusal};
  if (const std::optional<IpAddress> address = known_address(request))
    return {judge_address(request, *address)};
  return {};
}

// The front has seen to both already. Asked again because nothing else stands between a mistake
// there and an open proxy.
std::optional<Errc> Policy::judge_client(const Request& request) const {
  if (!may_client_connect(request.client)) return Errc::client_denied;
  if (needs_credentials() && request.user.empty()) return Errc::unauthorized;
  return std::nullopt;
}

std::optional<Errc> Policy::judge_port(const Request& request) const {
  const uint16_t port = request.target.port;
  if (port == 0) return Errc::port_denied;
  const bool is_limited = request.how == How::connect || request.how == How::sni;
  if (is_limited && !options_.connect_ports.contains(port)) return Errc::port_denied;
  return std::nullopt;
}

std::optional<Errc> Policy::judge_address(const Request& request, const IpAddress& address) const {
  if (own_listeners_.is_own(address, request.target.port)) return Errc::loop;
  if (request.how == How::relay) return std::nullopt;
  // Who is on this host reaches its inside without us.
  if (request.client.is_on_this_host()) return std::nullopt;
  switch (reach_of(address)) {
    case Reach::outside:
      return std::nullopt;
    case Reach::inside:
      return Errc::inside_denied;
    case Reach::private_range:
      if (options_.allow_private) return std::nullopt;
      return Errc::inside_denied;
  }
  return Errc::inside_denied;
}

}  // namespace headrace::access
