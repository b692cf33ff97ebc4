// A name server's answer, as far as addresses need it (RFC 1035 section 4.1). Pure: bytes in, value
// out. That it answers our question was checked before (c-ares: sender, id, name, type, class).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/ip.h"

namespace headrace::dns {

// Addresses kept per name; a longer answer is cut.
inline constexpr size_t kAddressesMax = 64;

struct Reply {
  enum class Kind : uint8_t {
    addresses,
    no_address,  // the name exists, without an address of this family (NODATA)
    no_name,     // NXDOMAIN
    failure,     // any other response code
  };
  Kind kind = Kind::failure;
  std::vector<IpAddress> addresses;
  // How long it holds: the shortest of the records that lead to the addresses; of a negative answer
  // what its SOA record says (RFC 2308 section 5), nullopt where it brings none.
  std::optional<uint32_t> ttl_seconds;
};

// nullopt where the bytes are no DNS answer.
std::optional<Reply> parse_reply(ByteSpan message, IpAddress::Family family);

}  // namespace headrace::dns
