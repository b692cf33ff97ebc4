#include "base/target.h"

#include <algorithm>

#include "base/text.h"

namespace headrace {
namespace {

constexpr size_t kNameBytesMax = 253;  // RFC 1035 section 3.1, less length bytes and root
constexpr size_t kLabelBytesMax = 63;

bool is_name_byte(char c) {
  return is_digit(c) || (to_lower(c) >= 'a' && to_lower(c) <= 'z') || c == '-' || c == '_';
}

bool is_label(std::string_view label) {
  return !label.empty() && label.size() <= kLabelBytesMax &&
         std::all_of(label.begin(), label.end(), is_name_byte);
}

bool is_hex_digit(char c) {
  return is_digit(c) || (to_lower(c) >= 'a' && to_lower(c) <= 'f');
}

// No top-level domain is a number: what ends in one was meant as an IPv4 address (as in the URL
// standard of WHATWG, so that we and a browser read the same thing).
bool is_number(std::string_view label) {
  if (label.size() >= 2 && label[0] == '0' && to_lower(label[1]) == 'x')
    return std::all_of(label.begin() + 2, label.end(), is_hex_digit);
  return std::all_of(label.begin(), label.end(), is_digit);
}

// `text` has no trailing dot.
bool is_resolvable_name(std::string_view text) {
  if (text.size() > kNameBytesMax) return false;
  for (;;) {
    const size_t dot = text.find('.');
    const std::string_view label = text.substr(0, dot);
    if (!is_label(label)) return false;
    if (dot == text.npos) return !is_number(label);
    text.remove_prefix(dot + 1);
  }
}

std::optional<IpAddress> parse_v6(std::string_view text) {
  std::optional<IpAddress> address = IpAddress::parse(text);
  if (address && address->is_v4()) return std::nullopt;
  return address;
}

}  // namespace

std::optional<Host> Host::parse(std::string_view text) {
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']') {
    const std::optional<IpAddress> literal = parse_v6(text.substr(1, text.size() - 2));
    if (!literal) return std::nullopt;
    return Host(*literal);
  }
  if (text.find(':') != text.npos) {
    const std::optional<IpAddress> literal = parse_v6(text);
    if (!literal) return std::nullopt;
    return Host(*literal);
  }
  if (!text.empty() && text.back() == '.') text.remove_suffix(1);
  if (const std::optional<IpAddress> address = IpAddress::parse_any_spelling(text))
    return Host(*address);
  if (!is_resolvable_name(text)) return std::nullopt;
  Host host;
  host.value_ = lowered(text);
  return host;
}

std::string Host::to_string() const {
  if (is_name()) return name();
  if (address().is_v4()) return address().to_string();
  return '[' + address().to_string() + ']';
}

std::optional<Target> Target::parse(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == text.npos) return std::nullopt;
  const std::string_view host_text = text.substr(0, colon);
  // An IPv6 literal without brackets: nobody can tell where its port begins.
  const bool bracketed = !host_text.empty() && host_text.front() == '[';
  if (!bracketed && host_text.find(':') != host_text.npos) return std::nullopt;

  std::optional<Host> host = Host::parse(host_text);
  const std::optional<uint16_t> port = parse_port(text.substr(colon + 1));
  if (!host || !port) return std::nullopt;
  return Target{std::move(*host), *port};
}

std::string Target::to_string() const {
  return host.to_string() + ':' + std::to_string(port);
}

std::optional<uint16_t> parse_port(std::string_view digits) {
  const std::optional<uint16_t> port = parse_number<uint16_t>(digits);
  if (port == uint16_t{0}) return std::nullopt;
  return port;
}

}  // namespace headrace
