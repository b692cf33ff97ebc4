// SOCKS version 4 and its extension 4a: a client's one message as a value, and the bytes that
// answer it. Pure; safe from any thread.
//
// Version 4 has a user id but no password, so it proves nothing: where users are configured, a
// version 4 client is refused whatever id it gives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/error.h"
#include "base/ip.h"
#include "base/parse.h"
#include "base/target.h"
#include "socks/command.h"

namespace headrace::socks {

// The protocol sets no limit to its zero-terminated strings; these are what version 5 can carry.
inline constexpr size_t kUserIdBytesMax = 255;
inline constexpr size_t kName4BytesMax = 255;

enum class ReplyCode4 : uint8_t { granted = 0x5a, rejected = 0x5b };

struct Request4 {
  // Decided by the bytes alone, before any rule; answered by `rejected`. Where it stands, `command`
  // and `target` say nothing.
  std::optional<Errc> refusal;
  Command command = Command::connect;
  Target target;      // a literal that came as a 4a name is an address here; the port may be 0
  std::string asked;  // the same as the client wrote it, any bytes, at most 261: for the log
  std::string user_id;
};

// Fails with Errc::malformed for a wrong version and Errc::too_large for a string beyond its limit.
// The address 0.0.0.x announces a 4a name unless x is 0: 0.0.0.0 is an address, and refused.
Parse<Request4> parse_request4(ByteSpan bytes);

// The reply has room for an IPv4 address; an IPv6 one is told as zeros.
void append_reply4(std::string& out, ReplyCode4 code, const IpAddress& bound_address = {},
                   uint16_t bound_port = 0);

}  // namespace headrace::socks
