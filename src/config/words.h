// Text for the people at a terminal: help, faults, the reference page.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace headrace::config {

// In double quotes, with what would upset a terminal escaped.
std::string in_quotes(std::string_view text);

// With line breaks where words would cross `columns`; none at the end.
std::string wrapped(std::string_view text, size_t columns);

}  // namespace headrace::config
