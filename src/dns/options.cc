#include "dns/options.h"

#include "base/target.h"
#include "base/text.h"

namespace headrace::dns {
namespace {

std::optional<net::Endpoint> parse_server(std::string_view text) {
  if (const std::optional<Host> host = Host::parse(text); host && !host->is_name())
    return net::Endpoint{host->address(), kServerPort};
  if (const std::optional<Target> target = Target::parse(text); target && !target->host.is_name())
    return net::Endpoint{target->host.address(), target->port};
  return std::nullopt;
}

}  // namespace

std::optional<std::vector<net::Endpoint>> parse_servers(std::string_view text) {
  std::vector<net::Endpoint> servers;
  for (;;) {
    const size_t comma = text.find(',');
    const std::optional<net::Endpoint> server = parse_server(trimmed(text.substr(0, comma)));
    if (!server) return std::nullopt;
    servers.push_back(*server);
    if (comma == text.npos) return servers;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace headrace::dns
