// SOCKS version 5 (RFC 1928) with user name and password (RFC 1929): a client's messages as values,
// and the bytes that answer them. Pure; safe from any thread.
//
//   client: greeting     -> append_method_reply
//   client: credentials  -> append_auth_reply     (where the method is `password`)
//   client: request      -> append_reply          (twice for BIND)
#pragma once

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

enum class Method : uint8_t { none = 0x00, password = 0x02, unacceptable = 0xff };

struct Greeting {
  bool offers_none = false;
  bool offers_password = false;
};

struct Credentials {
  std::string user;  // 0 to 255 bytes of any kind, as is the password
  std::string password;
};

// RFC 1928 section 6.
enum class ReplyCode : uint8_t {
  succeeded = 0x00,
  general_failure = 0x01,
  not_allowed = 0x02,
  network_unreachable = 0x03,
  host_unreachable = 0x04,
  connection_refused = 0x05,
  ttl_expired = 0x06,
  command_not_supported = 0x07,
  address_type_not_supported = 0x08,
};

// Why a request that could be read cannot be served, and how the client is told.
struct Refusal {
  Errc what;
  ReplyCode reply;
  friend bool operator==(const Refusal&, const Refusal&) = default;
};

struct Request {
  // Decided by the bytes alone, before any rule. Where it stands, `command` and `target` say
  // nothing.
  std::optional<Refusal> refusal;
  Command command = Command::connect;
  Target target;      // a literal that came as a domain is an address here; the port may be 0
  std::string asked;  // the same as the client wrote it, any bytes, at most 261: for the log
};

// They fail with Errc::malformed at the first byte that is wrong; consumed_bytes() ends exactly
// where the message does, so that what stands behind it is the next message or the tunnel's first
// bytes.
Parse<Greeting> parse_greeting(ByteSpan bytes);
Parse<Credentials> parse_credentials(ByteSpan bytes);
// An unknown command, an unknown address type (whose length nobody knows: its message ends there,
// the connection is of no further use) and a domain that is no name come as a value with a refusal.
Parse<Request> parse_request(ByteSpan bytes);

// Whether clients must say who they are.
enum class Authentication : uint8_t { not_needed, required };
// `password` where authentication is required, `none` where it is not, if the client offers it.
Method choose_method(const Greeting& greeting, Authentication authentication);

// The reply for a reason; the whole table stands in docs/reasons.md.
ReplyCode reply_code_of(Errc what);

void append_method_reply(std::string& out, Method method);

enum class AuthResult : uint8_t { accepted = 0x00, refused = 0x01 };
void append_auth_reply(std::string& out, AuthResult result);

// BND.ADDR and BND.PORT: the local end of the upstream connection; zeros in a refusal.
void append_reply(std::string& out, ReplyCode code, const IpAddress& bound_address = {},
                  uint16_t bound_port = 0);

}  // namespace headrace::socks
