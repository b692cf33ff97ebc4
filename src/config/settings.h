// Everything that an operator has decided, checked and ready to be wired up: what the command line
// (app/cli.h) gives, and what a configuration file will give. Plain values; app reads them once at
// start and makes of them what the workers need.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "access/options.h"
#include "base/log.h"
#include "dns/options.h"
#include "net/options.h"
#include "session/options.h"

namespace headrace::config {

// One [[listener]]: what is done with clients that come in at any of its addresses.
struct Listener {
  std::vector<std::string> listen;  // as net::ListenAddress (net/endpoint.h) reads them
  session::ListenerOptions session;
  access::Options access;
  std::string access_log = "off";  // a file; "-": standard output; "off"
};

struct Settings {
  std::vector<Listener> listeners;
  uint32_t workers = 0;  // 0: one per CPU that headrace may use
  net::Options net;
  dns::Options dns;
  std::chrono::microseconds drain_timeout = std::chrono::seconds(30);
  LogLevel log_level = LogLevel::info;
};

}  // namespace headrace::config
