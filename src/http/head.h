// Request and response heads (RFC 9112 sections 2 to 5): the strict parser of what clients and
// upstreams send. What two parsers could read differently is refused.
//
// A head is parsed once, when its empty line is there. Until then only its end is searched for, and
// the cursor remembers how far: each byte is looked at a fixed number of times however small the
// segments are. The parsed head is made of views: it is valid as long as the bytes stay where they
// are. Heads are scratch space of a worker: their vectors keep their capacity, so that a request
// costs no allocation.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/parse.h"
#include "base/result.h"
#include "http/field.h"

namespace headrace::http {

// Longest head we accept, from its first byte to its empty line. RFC 9112 section 3 recommends 8000
// for the request line alone. Beyond it the rest cannot be framed: refuse and close.
inline constexpr size_t kHeadBytesMax = 16 * 1024;

struct RequestHead {
  std::string_view method;  // a token; methods are case-sensitive
  std::string_view
      target;  // as sent: no blanks and control bytes; bytes from 0x80 on are let through
  int minor_version = 1;  // 0 or 1; HTTP/1.2 and later count as 1 (RFC 9110 section 2.5)
  std::vector<Field> fields;
  std::string_view field_lines;  // all of them as sent, each with its CR LF
};

struct ResponseHead {
  int minor_version = 1;
  int status = 0;           // 100 to 999
  std::string_view reason;  // may be empty
  std::vector<Field> fields;
  std::string_view field_lines;
};

// How far an incomplete head was searched for its end. Belongs to the connection, starts anew with
// every message; nothing may be removed in front of the bytes while one is in use.
struct HeadCursor {
  uint32_t searched_bytes = 0;
  uint32_t line_begin = 0;
};

// Done: consumed_bytes() is the length of the head, what is behind it is the body's or the next
// one's. Errors: malformed (400 or 502); too_large (431); uri_too_long (414): the request line does
// not end within kHeadBytesMax. A head that cannot become valid any more is refused before its end
// where that is cheap to see: bare LF, control bytes, bytes that are no HTTP at all such as a TLS
// ClientHello.
using HeadParse = Parse<Done>;

// `bytes` is all that has come since the head began. One empty line before the request line is
// skipped (RFC 9112 section 2.2). Any major version but 1 is malformed.
HeadParse parse_request_head(std::string_view bytes, HeadCursor& cursor, RequestHead& out);
// The blank behind the status may be missing together with the reason, as many origins send it.
HeadParse parse_response_head(std::string_view bytes, HeadCursor& cursor, ResponseHead& out);

// GET, HEAD, OPTIONS, TRACE, PUT, DELETE (RFC 9110 section 9.2.2): may be sent a second time.
bool is_idempotent(std::string_view method);

}  // namespace headrace::http
