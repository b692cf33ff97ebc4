// The head that is forwarded: everything end-to-end byte for byte and in order, everything that
// belongs to one hop left out or written anew (RFC 9110 section 7.6, RFC 9112 sections 3.2, 6 and
// 9). One pass, appended to a string that the caller keeps; neighbouring lines are copied in one
// piece.
//
// Never forwarded, either way: Connection, Proxy-Connection, Keep-Alive, TE, Trailer,
// HTTP2-Settings, Upgrade (but when the protocol changes), the fields that Connection nominates,
// Proxy and Proxy-* (but an answer's Proxy-Status, which is meant for the client, RFC 9209).
// Written anew: Host, Content-Length and Transfer-Encoding in their plainest form, Max-Forwards of
// TRACE and OPTIONS, and a Via line of our own behind those that came.
#pragma once

#include <string>
#include <string_view>

#include "http/connection.h"
#include "http/framing.h"
#include "http/head.h"
#include "http/target_form.h"

namespace headrace::http {

// What Via calls us, with an id in the comment that tells apart proxies of this kind:
// "Via: 1.1 headrace (ID)". The id consists of letters and digits.
inline constexpr std::string_view kPseudonym = "headrace";

struct ForwardedRequest {
  const RequestHead& head;
  const RequestTarget& target;          // Form::absolute
  const ConnectionOptions& connection;  // with upgrade set, Connection and Upgrade go along
  BodyLength body;
  std::string_view via_id;
};
// "METHOD path HTTP/1.1", Host first. Expect passes, but from an HTTP/1.0 client, who could not
// take the 100 (RFC 9110 section 10.1.1). Nothing is said about the upstream connection: it
// persists.
void append_request_head(const ForwardedRequest& request, std::string& out);

struct ForwardedResponse {
  const ResponseHead& head;
  const ConnectionOptions& connection;
  BodyLength body;  // as the client gets it: body_for_client()
  std::string_view via_id;
  // Ends the client's connection after this message. Said as well where the body's end is that of
  // the connection. Not for interim answers (1xx).
  bool close = false;
};
// The status line always says HTTP/1.1 (RFC 9110 section 2.5). Content-Length is left out of 1xx
// and 204 and kept in answers to HEAD and in 304, where it describes what a GET would give. 101
// carries Connection and Upgrade, 426 as well.
void append_response_head(const ForwardedResponse& response, std::string& out);

// Whether the request has been here before: a Via entry made by headrace with our id, or by
// headrace without a comment (someone removed it: better one false alarm than an endless loop).
// "headrace (other)" is another instance and fine.
bool came_through_us(const RequestHead& head, std::string_view via_id);

}  // namespace headrace::http
