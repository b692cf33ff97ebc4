#include "base/ip.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/text.h"

namespace headrace {
namespace {

using Bytes = std::array<uint8_t, 16>;

// Whether the first `bits` bits of both are the same.
bool same_prefix(const uint8_t* a, const uint8_t* b, unsigned bits) {
  const unsigned whole_bytes = bits / 8;
  if (std::memcmp(a, b, whole_bytes) != 0) return false;
  const unsigned rest_bits = bits % 8;
  if (rest_bits == 0) return true;
  const unsigned mask = (0xff00u >> rest_bits) & 0xffu;
  return ((a[whole_bytes] ^ b[whole_bytes]) & mask) == 0;
}

// Where the IPv4 address lies inside the IPv6 addresses of a prefix.
struct Wrapping {
  Bytes prefix;
  unsigned prefix_bits;
  unsigned v4_at_byte;
};
constexpr Wrapping kMapped{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96, 12};
constexpr Wrapping kTranslations[] = {
    {{}, 96, 12},                                          // ::/96, deprecated by RFC 4291
    {{0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0}, 96, 12},  // ::ffff:0:0:0/96 of SIIT, RFC 2765
    {{0x00, 0x64, 0xff, 0x9b}, 96, 12},                    // 64:ff9b::/96 of NAT64, RFC 6052
    {{0x20, 0x02}, 16, 2},                                 // 2002::/16 of 6to4, RFC 3056
};

std::optional<IpAddress> unwrap(const IpAddress& address, const Wrapping& how) {
  if (!same_prefix(address.bytes(), how.prefix.data(), how.prefix_bits)) return std::nullopt;
  return IpAddress::v4(address.bytes() + how.v4_at_byte);
}

// One part of what inet_aton(3) takes: decimal, octal behind a 0, hexadecimal behind 0x.
std::optional<uint32_t> parse_aton_part(std::string_view part) {
  if (part.size() >= 2 && part[0] == '0') {
    if (to_lower(part[1]) == 'x') return parse_number<uint32_t>(part.substr(2), 16);
    return parse_number<uint32_t>(part.substr(1), 8);
  }
  return parse_number<uint32_t>(part);
}

// One to four parts; all but the last are a byte each, the last fills what is left.
std::optional<IpAddress> parse_aton(std::string_view text) {
  constexpr unsigned kPartsMax = 4;
  uint32_t address = 0;
  for (unsigned part_index = 0; part_index < kPartsMax; ++part_index) {
    const size_t dot = text.find('.');
    const std::optional<uint32_t> part = parse_aton_part(text.substr(0, dot));
    if (!part) return std::nullopt;
    const unsigned bits_left = 32 - 8 * part_index;
    if (dot == text.npos) {
      if (uint64_t{*part} >> bits_left) return std::nullopt;
      return IpAddress::v4(address | *part);
    }
    if (*part > 0xff) return std::nullopt;
    address |= *part << (bits_left - 8);
    text.remove_prefix(dot + 1);
  }
  return std::nullopt;
}

}  // namespace

IpAddress IpAddress::v4(uint32_t host_order) {
  IpAddress address;
  for (unsigned i = 0; i < 4; ++i)
    address.bytes_[i] = static_cast<uint8_t>(host_order >> (24 - 8 * i));
  return address;
}

IpAddress IpAddress::v4(const uint8_t* four_bytes) {
  IpAddress address;
  std::copy_n(four_bytes, 4, address.bytes_.begin());
  return address;
}

IpAddress IpAddress::v6(const uint8_t* sixteen_bytes) {
  IpAddress address;
  address.family_ = Family::v6;
  std::copy_n(sixteen_bytes, 16, address.bytes_.begin());
  return address;
}

std::optional<IpAddress> IpAddress::parse(std::string_view text) {
  // inet_pton(3) wants a terminated string, so a zero byte inside would hide what follows it.
  char terminated[INET6_ADDRSTRLEN];
  if (text.size() >= sizeof(terminated) || text.find('\0') != text.npos) return std::nullopt;
  *std::copy(text.begin(), text.end(), terminated) = '\0';

  uint8_t bytes[16];
  if (inet_pton(AF_INET, terminated, bytes) == 1) return v4(bytes);
  if (inet_pton(AF_INET6, terminated, bytes) == 1) return v6(bytes);
  return std::nullopt;
}

std::optional<IpAddress> IpAddress::parse_any_spelling(std::string_view text) {
  if (std::optional<IpAddress> standard = parse(text)) return standard;
  return parse_aton(text);
}

IpAddress IpAddress::unmapped() const {
  if (is_v4()) return *this;
  return unwrap(*this, kMapped).value_or(*this);
}

IpAddress IpAddress::unwrapped() const {
  // :: and ::1 lie in ::/96 but are addresses of their own.
  if (is_v4() || is_loopback() || is_unspecified()) return *this;
  if (std::optional<IpAddress> v4 = unwrap(*this, kMapped)) return *v4;
  for (const Wrapping& how : kTranslations)
    if (std::optional<IpAddress> v4 = unwrap(*this, how)) return *v4;
  return *this;
}

bool IpAddress::is_loopback() const {
  if (is_v4()) return bytes_[0] == 127;
  constexpr Bytes kLoopback{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  return bytes_ == kLoopback;
}

bool IpAddress::is_unspecified() const {
  if (is_v4()) return bytes_[0] == 0;
  return bytes_ == Bytes{};
}

bool IpAddress::is_link_local() const {
  if (is_v4()) return bytes_[0] == 169 && bytes_[1] == 254;
  return bytes_[0] == 0xfe && (bytes_[1] & 0xc0) == 0x80;
}

bool IpAddress::is_multicast() const {
  if (is_v4()) return (bytes_[0] & 0xf0) == 224 || *this == v4(0xffffffff);
  return bytes_[0] == 0xff;
}

bool IpAddress::is_private() const {
  if (is_v4()) {
    return bytes_[0] == 10 || (bytes_[0] == 172 && (bytes_[1] & 0xf0) == 16) ||
           (bytes_[0] == 192 && bytes_[1] == 168) || (bytes_[0] == 100 && (bytes_[1] & 0xc0) == 64);
  }
  constexpr uint8_t kLocalNat64[] = {0x00, 0x64, 0xff, 0x9b, 0x00, 0x01};
  const bool unique_local = (bytes_[0] & 0xfe) == 0xfc;
  const bool site_local = bytes_[0] == 0xfe && (bytes_[1] & 0xc0) == 0xc0;
  return unique_local || site_local || same_prefix(bytes_.data(), kLocalNat64, 48);
}

std::string IpAddress::to_string() const {
  char text[INET6_ADDRSTRLEN];
  const char* written = inet_ntop(is_v4() ? AF_INET : AF_INET6, bytes_.data(), text, sizeof(text));
  HEADRACE_ASSERT(written != nullptr);
  return text;
}

IpNetwork::IpNetwork(IpAddress address, unsigned prefix_bits)
    : address_(address), prefix_bits_(prefix_bits) {
  HEADRACE_ASSERT(prefix_bits <= address.size() * 8);
  if (!address.is_v4() && prefix_bits >= kMapped.prefix_bits && address.unmapped().is_v4()) {
    address_ = address.unmapped();
    prefix_bits_ = prefix_bits - kMapped.prefix_bits;
  }
}

std::optional<IpNetwork> IpNetwork::parse(std::string_view text) {
  const size_t slash = text.find('/');
  const std::optional<IpAddress> address = IpAddress::parse(text.substr(0, slash));
  if (!address) return std::nullopt;
  const unsigned address_bits = static_cast<unsigned>(address->size() * 8);
  if (slash == text.npos) return IpNetwork(*address, address_bits);

  const std::optional<unsigned> prefix_bits = parse_number<unsigned>(text.substr(slash + 1));
  if (!prefix_bits || *prefix_bits > address_bits) return std::nullopt;
  for (unsigned bit = *prefix_bits; bit < address_bits; ++bit)
    if (address->bytes()[bit / 8] & (0x80u >> (bit % 8))) return std::nullopt;
  return IpNetwork(*address, *prefix_bits);
}

bool IpNetwork::contains(const IpAddress& address) const {
  const IpAddress meant = address.unmapped();
  return meant.family() == address_.family() &&
         same_prefix(meant.bytes(), address_.bytes(), prefix_bits_);
}

std::string IpNetwork::to_string() const {
  return address_.to_string() + '/' + std::to_string(prefix_bits_);
}

}  // namespace headrace
