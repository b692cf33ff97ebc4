// Where the body of a message ends: RFC 9112 section 6.3, strictly. Whatever passes here is written
// anew when forwarded (rewrite.h), so the next hop sees one plain Content-Length or one plain
// "Transfer-Encoding: chunked" and cannot disagree with us.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "http/head.h"

namespace headrace::http {

// Longest body with a length: the largest off_t, so that sums with it do not overflow.
inline constexpr uint64_t kBodyBytesMax = INT64_MAX;

struct BodyLength {
  enum class Kind : uint8_t { none, length, chunked, until_close };

  Kind kind = Kind::none;
  // The connection must not carry another message: the end of this one is its end, or its framing
  // was doubtful.
  bool ends_connection = false;
  uint64_t bytes = 0;  // of Kind::length, may be 0

  friend bool operator==(const BodyLength&, const BodyLength&) = default;
};

// Errors (Side::client). malformed: Content-Length together with Transfer-Encoding,
// Transfer-Encoding in HTTP/1.0, a last coding that is not chunked, chunked twice, empty list
// members, a Content-Length that is no number, beyond kBodyBytesMax, or more than one number.
// unsupported: a coding before chunked. Content-Length repeated with the same value counts once.
// CONNECT may announce a length of 0 and nothing else: what follows its head belongs to the tunnel
// (RFC 9110 section 9.3.6).
Result<BodyLength> request_body(const RequestHead& head);

// `method` is the request's. Errors (Side::upstream) as above, with two differences. Both fields at
// once: chunked counts and ends_connection is set; RFC 9112 section 6.3 lets an intermediary do so,
// careless origins exist, browsers show their pages, and our client sees chunked alone. Codings
// that we did not ask for are unsupported: without TE in the request none but chunked may be used.
// 1xx, 204, 304, answers to HEAD and 2xx to CONNECT: none, whatever their fields announce.
Result<BodyLength> response_body(const ResponseHead& head, std::string_view method);

// How a client of that version gets an answer that came with `received`: HTTP/1.0 knows no chunked,
// so it is decoded and ends with the connection.
BodyLength body_for_client(BodyLength received, int client_minor_version);

}  // namespace headrace::http
