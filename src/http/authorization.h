// Proxy-Authorization with the Basic scheme (RFC 7617). Who may pass is decided in access/.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "http/head.h"

namespace headrace::http {

struct Credentials {
  std::string_view user;      // up to the first colon; both as bytes, UTF-8 by our challenge
  std::string_view password;  // all behind it
};

// The views go into `scratch`, which is overwritten; the caller keeps it to save allocations and
// wipes it if it likes. Errors (Side::client): unauthorized (407) where there are none, for other
// schemes, and for what is no base64 with its padding (RFC 4648 section 4, the spare bits zero),
// has no colon or holds control bytes; malformed where the field comes twice, as two parsers could
// choose differently.
Result<Credentials> proxy_credentials(const RequestHead& head, std::string& scratch);

}  // namespace headrace::http
