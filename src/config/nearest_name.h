// What someone probably meant who wrote a name that does not exist.
#pragma once

#include <span>
#include <string_view>

namespace headrace::config {

// The name that takes the fewest typing slips (a letter missing, added, exchanged or swapped with
// its neighbour) to become `written`; empty where even that one is more slips than sense.
std::string_view nearest_name(std::string_view written, std::span<const std::string_view> names);

}  // namespace headrace::config
