// What Connection (and Proxy-Connection, its misspelling that clients send to proxies) says about
// this hop: whether it goes on after the message, whether the protocol is to change, and which
// other fields belong to the hop alone (RFC 9110 section 7.6.1, RFC 9112 section 9.3).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "http/head.h"

namespace headrace::http {

// Most field names that a message may nominate beyond those that are never forwarded anyway.
inline constexpr size_t kNominatedMax = 16;

struct ConnectionOptions {
  // HTTP/1.1 goes on unless told "close". An HTTP/1.0 upstream goes on when it says "keep-alive"; a
  // proxy must not go on with an HTTP/1.0 client (RFC 9112 section 9.3).
  bool persistent = false;
  // Named as an option, together with an Upgrade field, in HTTP/1.1.
  bool upgrade = false;
  uint8_t nominated_count = 0;
  std::array<std::string_view, kNominatedMax> nominated;  // views into the head

  // Whether the field goes no further because Connection names it. Fields that we write ourselves
  // or need for safety (Host, Content-Length, Transfer-Encoding, Via) cannot be nominated away:
  // such a nomination is ignored.
  bool nominates(const Field& field) const;
};

// Options are compared whole and without case, never searched for. Errors: malformed, for a
// Connection that is no list of tokens; too_large, beyond kNominatedMax.
Result<ConnectionOptions> connection_options(const RequestHead& head);   // Side::client
Result<ConnectionOptions> connection_options(const ResponseHead& head);  // Side::upstream

}  // namespace headrace::http
