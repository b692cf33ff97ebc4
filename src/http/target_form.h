// Where a request wants to go: the forms of a request target (RFC 9112 section 3.2), and the rules
// about the Host field that comes with it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/target.h"
#include "http/head.h"

namespace headrace::http {

struct RequestTarget {
  enum class Form : uint8_t {
    absolute,   // http://host[:port]/path?query: to be forwarded
    authority,  // host:port, of CONNECT
    origin,     // /path?query: asked of us as if we were the origin
    asterisk,   // *, of OPTIONS: asks about ourselves
  };

  Form form;
  Target target;  // of absolute (port 80 unless another is given) and authority
  // Byte for byte as sent, a view into the head; may be empty or begin with the query. "*" for an
  // OPTIONS in absolute form without path and query (RFC 9112 section 3.2.4).
  std::string_view path_and_query;

  // What the origin is asked for: path_and_query, with the "/" that an empty path stands for.
  void append_origin_form(std::string& out) const;
  // The Host field value that belongs to the target: without port where it is the scheme's own.
  void append_host(std::string& out) const;
};

// Errors (Side::client): malformed; unsupported for URIs of another scheme than http, of which
// https is the usual one (a client is expected to ask for a tunnel instead). Refused as malformed:
// user information (RFC 9110 section 4.2.4), zone ids, fragments, an empty or impossible port, an
// authority without port in CONNECT, HTTP/1.1 without Host, more than one Host, a Host that is
// none. A Host that differs from the target is fine and ignored (RFC 9112 section 3.2.2). Raw '"',
// '|', '\\' and bytes from 0x80 on pass in path and query: browsers and tools send them, no parser
// takes them for a delimiter, and a proxy must not rewrite a path (RFC 9110 section 7.7).
Result<RequestTarget> request_target(const RequestHead& head);

// Max-Forwards: 0 of a TRACE or OPTIONS: the request must not go further (RFC 9110 section 7.6.2).
bool must_stop_here(const RequestHead& head);

}  // namespace headrace::http
