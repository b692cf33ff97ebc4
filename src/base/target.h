// Where a client wants to go: a host, by name or address, and a port.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/ip.h"

namespace headrace {

// A DNS name as it was asked for, in lower case and without a trailing dot; or an address.
class Host {
 public:
  Host() = default;
  explicit Host(IpAddress address) : value_(address) {}

  // The host of a URI, a CONNECT authority or a SOCKS domain, without port: an IP literal in any
  // spelling (IPv6 with or without brackets is for the caller to insist on) or a name of letters,
  // digits, '-', '_' and '.', at most 253 bytes, labels of 1 to 63; one trailing dot is dropped.
  // nullopt for anything else; also for a name whose last label is a number but which is no IPv4
  // address (it would never resolve).
  static std::optional<Host> parse(std::string_view text);

  bool is_name() const { return std::holds_alternative<std::string>(value_); }
  const std::string& name() const { return std::get<std::string>(value_); }
  const IpAddress& address() const { return std::get<IpAddress>(value_); }
  // As in a URI: IPv6 in brackets.
  std::string to_string() const;

  friend bool operator==(const Host&, const Host&) = default;

 private:
  std::variant<IpAddress, std::string> value_;
};

struct Target {
  Host host;
  uint16_t port = 0;

  // "HOST:PORT", "[V6]:PORT"; the port in digits, 1 to 65535.
  static std::optional<Target> parse(std::string_view text);
  std::string to_string() const;
  friend bool operator==(const Target&, const Target&) = default;
};

// A port in digits and nothing else, 1 to 65535 (leading zeros are allowed, as in RFC 3986).
std::optional<uint16_t> parse_port(std::string_view digits);

}  // namespace headrace
