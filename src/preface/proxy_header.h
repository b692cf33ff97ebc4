// The PROXY protocol (HAProxy's specification, versions 1 and 2): a proxy says in front of a
// connection's own bytes whom it passes on. Pure; safe from any thread.
//
// A receiver must know whether a header comes, and never guesses; who may send one is decided in
// session/proxy_protocol.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/ip.h"
#include "base/parse.h"

namespace headrace::preface {

// The longest header of version 1, with its line end; and of version 2, whose format would allow 64
// KB: addresses take up to 232 bytes, and what we have seen behind them is certificates at most.
inline constexpr size_t kProxyHeader1BytesMax = 107;
inline constexpr size_t kProxyHeader2BytesMax = 16 * 1024;

// Of the connection that is passed on: from where it came, and to where. Mapped IPv4 addresses are
// the IPv4 addresses that they are.
struct ConnectionEnds {
  IpAddress source;
  IpAddress destination;
  uint16_t source_port = 0;
  uint16_t destination_port = 0;

  friend bool operator==(const ConnectionEnds&, const ConnectionEnds&) = default;
};

struct ProxyHeader {
  // Absent where the sender speaks for itself (LOCAL, as health checks do) or cannot say for whom
  // (UNKNOWN, UNSPEC, and what is no TCP over IP): then the connection's own ends count.
  std::optional<ConnectionEnds> ends;
};

// Either version, told apart by its first byte. Fails with Errc::malformed at the first byte that
// is wrong, or when a CRC32c that stands in the header does not fit it; with Errc::too_large for
// version 2 beyond its limit. Other TLVs are skipped, but must add up.
Parse<ProxyHeader> parse_proxy_header(ByteSpan bytes);

// Types of what version 2 can carry behind the addresses (section 2.2).
enum class TlvType : uint8_t {
  alpn = 0x01,
  authority = 0x02,  // the name that the client asked for, as in its server_name
  crc32c = 0x03,
  ssl = 0x20,  // its value holds TLVs of its own
};

// At most 65,535 bytes of value.
void append_tlv(std::string& out, TlvType type, std::string_view value);

// A header for the upstream. Ends that are absent, or of two families, are told as UNKNOWN or
// UNSPEC. `tlvs` is what append_tlv made, in all not above the limit.
void append_proxy_header1(std::string& out, const std::optional<ConnectionEnds>& ends);
void append_proxy_header2(std::string& out, const std::optional<ConnectionEnds>& ends,
                          std::string_view tlvs);

}  // namespace headrace::preface
