// How names are resolved.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/clock.h"
#include "net/endpoint.h"

namespace headrace::dns {

struct Options {
  net::Duration timeout = std::chrono::seconds(5);  // for one name, over all servers and tries
  std::string servers;  // "192.0.2.53, [2001:db8::53]:5353"; empty: as the system has it

  // Where the system says how; elsewhere in tests.
  std::string hosts_path = "/etc/hosts";
  std::string resolv_conf_path = "/etc/resolv.conf";
};

// Where name servers listen.
inline constexpr uint16_t kServerPort = 53;

// The name servers of `Options::servers`: addresses, each with or without a port; nullopt where the
// text is anything else, or names none.
std::optional<std::vector<net::Endpoint>> parse_servers(std::string_view text);

}  // namespace headrace::dns
