#include "access/port_set.h"

#include <algorithm>

#include "base/target.h"
#include "base/text.h"

namespace headrace::access {
namespace {

std::string quoted(std::string_view text) {
  return '\'' + std::string(text) + '\'';
}

std::optional<uint16_t> parse_port_or_fault(std::string_view digits, std::string& fault) {
  const std::optional<uint16_t> port = parse_port(digits);
  if (!port) fault = quoted(digits) + " is no port: a number from 1 to 65535 is";
  return port;
}

// "80" or "8000-8099".
std::optional<PortSet::Range> parse_range(std::string_view text, std::string& fault) {
  const size_t dash = text.find('-');
  const std::optional<uint16_t> first = parse_port_or_fault(text.substr(0, dash), fault);
  if (!first) return std::nullopt;
  if (dash == text.npos) return PortSet::Range{*first, *first};

  const std::optional<uint16_t> last = parse_port_or_fault(text.substr(dash + 1), fault);
  if (!last) return std::nullopt;
  if (*last < *first) {
    fault = quoted(text) + " ends before it begins";
    return std::nullopt;
  }
  return PortSet::Range{*first, *last};
}

}  // namespace

std::optional<PortSet> PortSet::parse(std::string_view text, std::string& fault) {
  if (trimmed(text) == "any") return any();
  PortSet ports;
  for (;;) {
    const size_t comma = text.find(',');
    const std::optional<Range> range = parse_range(trimmed(text.substr(0, comma)), fault);
    if (!range) return std::nullopt;
    ports.ranges_.push_back(*range);
    if (comma == text.npos) return ports;
    text.remove_prefix(comma + 1);
  }
}

std::string PortSet::to_string() const {
  std::string text;
  for (const Range& range : ranges_) {
    if (range.first == 1 && range.last == 65535) return "any";
    if (!text.empty()) text += ", ";
    text += std::to_string(range.first);
    if (range.last != range.first) text += '-' + std::to_string(range.last);
  }
  return text;
}

bool PortSet::contains(uint16_t port) const {
  return std::any_of(ranges_.begin(), ranges_.end(), [port](const Range& range) {
    return range.first <= port && port <= range.last;
  });
}

}  // namespace headrace::access
