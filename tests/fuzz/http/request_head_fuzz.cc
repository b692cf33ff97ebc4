// A request head and everything that is read out of it. What we would forward must be a strict head
// again, with the same method and framing, our Host once and first, and nothing in it that belongs
// to one hop.
#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "base/check.h"
#include "http/authorization.h"
#include "http/rewrite.h"
#include "pieces.h"

using namespace headrace;
using namespace headrace::http;

namespace {

constexpr std::string_view kViaId = "a1b2";

bool belongs_to_one_hop(FieldId id) {
  return id == FieldId::proxy_connection || id == FieldId::keep_alive || id == FieldId::te ||
         id == FieldId::trailer || id == FieldId::http2_settings || id == FieldId::proxy ||
         id == FieldId::proxy_authorization || id == FieldId::proxy_status;
}

void check_forwarded(const ForwardedRequest& request) {
  std::string bytes;
  append_request_head(request, bytes);
  // What was added (Host, Via) may take a full-size head past the limit of ours.
  if (bytes.size() > kHeadBytesMax || request.head.fields.size() + 3 > kFieldsMax) return;

  HeadCursor cursor;
  RequestHead forwarded;
  HeadParse parse = parse_request_head(bytes, cursor, forwarded);
  HEADRACE_ASSERT(parse && parse.consumed_bytes() == bytes.size());
  HEADRACE_ASSERT(forwarded.method == request.head.method);
  HEADRACE_ASSERT(forwarded.fields.at(0).id == FieldId::host);
  for (size_t i = 0; i < forwarded.fields.size(); ++i) {
    FieldId id = forwarded.fields[i].id;
    HEADRACE_ASSERT(!belongs_to_one_hop(id));
    HEADRACE_ASSERT(id != FieldId::host || i == 0);
    HEADRACE_ASSERT(request.connection.upgrade ||
                    (id != FieldId::upgrade && id != FieldId::connection));
  }
  Result<BodyLength> body = request_body(forwarded);
  HEADRACE_ASSERT(body && *body == request.body);
  HEADRACE_ASSERT(came_through_us(forwarded, kViaId));
  HEADRACE_ASSERT(connection_options(forwarded));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view bytes = as_text({data, size});
  RequestHead head;
  HeadCursor cursor;
  HeadParse parse = parse_request_head(bytes, cursor, head);
  check_in_pieces(bytes, parse, parse_request_head, RequestHead{});
  if (!parse) return 0;

  HEADRACE_ASSERT(parse.consumed_bytes() <= kHeadBytesMax);
  std::string scratch;
  (void)proxy_credentials(head, scratch);
  (void)came_through_us(head, kViaId);
  (void)must_stop_here(head);
  Result<RequestTarget> target = request_target(head);
  Result<BodyLength> body = request_body(head);
  Result<ConnectionOptions> connection = connection_options(head);
  if (target && body && connection && target->form == RequestTarget::Form::absolute)
    check_forwarded({head, *target, *connection, *body, kViaId});
  return 0;
}
