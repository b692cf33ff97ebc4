// How names are resolved.
#pragma once

#include <string>

#include "net/clock.h"

namespace headrace::dns {

struct Options {
  net::Duration timeout = std::chrono::seconds(5);  // for one name, over all servers and tries
  std::string servers;  // "192.0.2.53, [2001:db8::53]:5353"; empty: as the system has it
};

}  // namespace headrace::dns
