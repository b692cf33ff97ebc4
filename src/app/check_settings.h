// What must hold of settings as a whole, wherever they came from, before anything is opened.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "access/own_listeners.h"
#include "config/settings.h"

namespace headrace::app {

// Each fault in one line; empty: the settings can be started.
std::vector<std::string> check_settings(const config::Settings& settings);

// The part of it that concerns where listeners listen: every address can be read, and none is there
// twice.
std::vector<std::string> check_addresses(const config::Settings& settings);

// Why a listener must not be opened at these addresses, as strangers could use it; the part of
// check_settings that is asked again about the addresses that were bound.
std::optional<std::string> open_proxy_fault(const config::Listener& listener,
                                            std::span<const access::Listener> reachable);

}  // namespace headrace::app
