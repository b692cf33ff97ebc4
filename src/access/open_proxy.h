// The start guard: nobody becomes an open proxy, which strangers find within hours, by accident.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "access/options.h"
#include "access/own_listeners.h"

namespace headrace::access {

// Why these listeners (http, socks and mixed; unix sockets are none of them) may not start, with
// what to add; nothing where they may.
std::optional<std::string> open_proxy_fault(std::span<const Listener> listeners,
                                            const Options& options);

}  // namespace headrace::access
