// Answers that the proxy makes itself. One table says which status and which Proxy-Status error
// type (RFC 9209 section 2.3) stand for which fault.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace headrace::http {

// To a CONNECT whose tunnel stands. No Content-Length: what follows is the tunnel's.
inline constexpr std::string_view kTunnelEstablished =
    "HTTP/1.1 200 Connection established\r\n\r\n";

// 400, 403, 407, 408, 414, 431, 501, 502, 503, 504 or 508.
int status_of(Error error);
std::string_view proxy_status_of(Error error);  // e.g. "connection_refused"
std::string_view reason_phrase(int status);     // of these and 200

struct ErrorPage {
  Error error;
  // What to tell the person in front, instead of describe(error.what); plain text without line
  // ends.
  std::string_view details = {};
  bool close = true;
  bool omit_body = false;  // the request was a HEAD
};
// The head and its body of plain text, e.g. "502 Bad Gateway: the destination refused the
// connection". 407 carries "Proxy-Authenticate: Basic". Without Date: it is asked of origins (RFC
// 9110 section 6.6.1), and a parser without clock stays testable; without it nothing is cached by
// guess, and no-store says so.
void append_error_page(const ErrorPage& page, std::string& out);

}  // namespace headrace::http
