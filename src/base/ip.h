// IP addresses and networks as values. IPv4 and IPv6 in one type; a mapped or translated spelling
// of an IPv4 address (RFC 4291 section 2.5.5.2, RFC 6052) can be asked for what it wraps.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace headrace {

class IpAddress {
 public:
  enum class Family : uint8_t { v4, v6 };

  IpAddress() = default;  // 0.0.0.0
  static IpAddress v4(uint32_t host_order);
  static IpAddress v4(const uint8_t* four_bytes);
  static IpAddress v6(const uint8_t* sixteen_bytes);

  // The standard spellings only: dotted quad without leading zeros, RFC 4291 text without zone.
  static std::optional<IpAddress> parse(std::string_view text);
  // Also what inet_aton(3) would take for an IPv4 address: "127.1", "2130706433", "0x7f.0.0.1",
  // "0177.0.0.1". For judging targets, so that no spelling escapes a rule.
  static std::optional<IpAddress> parse_any_spelling(std::string_view text);

  Family family() const { return family_; }
  bool is_v4() const { return family_ == Family::v4; }
  const uint8_t* bytes() const { return bytes_.data(); }
  size_t size() const { return is_v4() ? 4 : 16; }
  // The IPv4 address inside ::ffff:0:0/96, ::/96 (deprecated; not :: and ::1), ::ffff:0:0:0/96,
  // 64:ff9b::/96 or 2002::/16; itself otherwise.
  IpAddress unwrapped() const;
  // The IPv4 address inside ::ffff:0:0/96 only; itself otherwise. How a dual-stack socket's client
  // is meant.
  IpAddress unmapped() const;

  bool is_loopback() const;
  bool is_unspecified() const;  // the whole of 0.0.0.0/8, and ::
  bool is_link_local() const;   // 169.254.0.0/16, fe80::/10
  bool is_multicast() const;    // 224.0.0.0/4, ff00::/8, and 255.255.255.255
  // RFC 1918, RFC 4193, RFC 6598; also fec0::/10 (the older site-local addresses) and
  // 64:ff9b:1::/48 (a site's own NAT64 prefixes, RFC 8215: what they wrap, and where, only that
  // site knows).
  bool is_private() const;

  std::string to_string() const;
  friend auto operator<=>(const IpAddress&, const IpAddress&) = default;

 private:
  Family family_ = Family::v4;
  std::array<uint8_t, 16> bytes_{};
};

// A network in CIDR notation. A v4-mapped address is matched as the IPv4 address it is, and a
// network of v4-mapped addresses is the IPv4 network: ::/0 holds no IPv4 client.
class IpNetwork {
 public:
  IpNetwork(IpAddress address, unsigned prefix_bits);
  // "192.0.2.0/24", "2001:db8::/32", or an address alone (all its bits); host bits must be zero.
  static std::optional<IpNetwork> parse(std::string_view text);

  bool contains(const IpAddress& address) const;
  std::string to_string() const;

 private:
  IpAddress address_;
  unsigned prefix_bits_;
};

}  // namespace headrace
