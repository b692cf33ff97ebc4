// What must hold of settings as a whole, wherever they came from, before anything is opened.
#pragma once

#include <string>
#include <vector>

#include "config/settings.h"

namespace headrace::app {

// Each fault in one line; empty: the settings can be started.
std::vector<std::string> check_settings(const config::Settings& settings);

// The part of it that concerns where listeners listen: every address can be read, and none is there
// twice.
std::vector<std::string> check_addresses(const config::Settings& settings);

}  // namespace headrace::app
