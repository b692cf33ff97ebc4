// An answer's head, forwarded to clients of both versions as the answer to several methods. What we
// would forward must be a strict head again, framed as the client was meant to get it.
#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "base/check.h"
#include "http/rewrite.h"
#include "pieces.h"

using namespace headrace;
using namespace headrace::http;

namespace {

bool belongs_to_one_hop(FieldId id) {
  return id == FieldId::proxy_connection || id == FieldId::keep_alive || id == FieldId::te ||
         id == FieldId::trailer || id == FieldId::http2_settings || id == FieldId::proxy ||
         id == FieldId::proxy_authorization;
}

void check_forwarded(const ForwardedResponse& response, std::string_view method) {
  std::string bytes;
  append_response_head(response, bytes);
  if (bytes.size() > kHeadBytesMax || response.head.fields.size() + 3 > kFieldsMax) return;

  HeadCursor cursor;
  ResponseHead forwarded;
  HeadParse parse = parse_response_head(bytes, cursor, forwarded);
  HEADRACE_ASSERT(parse && parse.consumed_bytes() == bytes.size());
  HEADRACE_ASSERT(forwarded.status == response.head.status);
  for (const Field& field : forwarded.fields) HEADRACE_ASSERT(!belongs_to_one_hop(field.id));

  Result<BodyLength> body = response_body(forwarded, method);
  HEADRACE_ASSERT(body && body->kind == response.body.kind && body->bytes == response.body.bytes);
  Result<ConnectionOptions> connection = connection_options(forwarded);
  HEADRACE_ASSERT(connection);
  bool must_end = response.close || body->kind == BodyLength::Kind::until_close;
  HEADRACE_ASSERT(!must_end || !connection->persistent);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view bytes = as_text({data, size});
  ResponseHead head;
  HeadCursor cursor;
  HeadParse parse = parse_response_head(bytes, cursor, head);
  check_in_pieces(bytes, parse, parse_response_head, ResponseHead{});
  if (!parse) return 0;

  Result<ConnectionOptions> connection = connection_options(head);
  if (!connection) return 0;
  for (std::string_view method : {"GET", "HEAD", "CONNECT"}) {
    Result<BodyLength> body = response_body(head, method);
    if (!body) continue;
    for (int minor_version : {0, 1}) {
      BodyLength for_client = body_for_client(*body, minor_version);
      bool close = for_client.ends_connection || minor_version == 0;
      check_forwarded({head, *connection, for_client, "a1b2", close}, method);
    }
  }
  return 0;
}
