// The start guard: nobody becomes an open proxy, which strangers find within hours, by accident.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "access/options.h"
#include "access/own_listeners.h"

namespace headrace::access {

// What a listener is to the guard beside its addresses.
struct Exposure {
  bool asks_for_users = true;  // sni cannot
  // The PROXY protocol tells its clients: whoever reaches the proxy in front reaches it, also where
  // it listens on loopback or a unix socket.
  bool behind_a_proxy = false;
};

// Why these listeners (http, socks, mixed and sni; unix sockets are none of them) may not start,
// with what to add; nothing where they may.
std::optional<std::string> open_proxy_fault(std::span<const Listener> listeners,
                                            const Options& options, Exposure exposure = {});

}  // namespace headrace::access
