// What an operator can set for a listener, filled from the command line or the configuration file.
// The table of keys, units and bounds stands in config/options_table.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ip.h"
#include "base/target.h"
#include "net/clock.h"
#include "preface/options.h"
#include "relay/options.h"
#include "tls/options.h"

namespace headrace::session {

enum class Protocol : uint8_t { http, socks, mixed, relay, sni };

struct ListenerOptions {
  std::string name;
  Protocol protocol = Protocol::mixed;
  std::optional<Target> to;  // of relay: the destination; of sni: that of clients who name none
  uint16_t to_port = 443;    // of sni: the port of the servers that clients name

  // Networks of the proxies that say in front of each connection whom they pass on; empty: none.
  std::vector<IpNetwork> accept_proxy_protocol;
  // Of relay and sni: whether the upstream is told the client's address so.
  preface::ProxyProtocol send_proxy_protocol = preface::ProxyProtocol::off;

  net::Duration setup_timeout = std::chrono::seconds(10);
  net::Duration connect_timeout = std::chrono::seconds(10);
  net::Duration answer_timeout = std::chrono::minutes(5);
  net::Duration idle_timeout = std::chrono::hours(1);
  net::Duration keepalive_timeout = std::chrono::seconds(60);
  net::Duration half_closed_timeout = std::chrono::minutes(5);
  uint32_t max_connections = 0;     // of this listener, over all workers; 0: no limit
  std::optional<IpAddress> source;  // to dial from
  relay::SpliceMode splice = relay::SpliceMode::automatic;
  tls::ServerOptions tls;            // from the client
  tls::ClientOptions to_tls;         // of relay: to the destination
  std::optional<size_t> access_log;  // which of the open access logs (base/log.h); none: off
};

}  // namespace headrace::session
