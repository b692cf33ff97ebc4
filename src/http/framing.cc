#include "http/framing.h"

#include <optional>

#include "base/text.h"

namespace headrace::http {
namespace {

using Kind = BodyLength::Kind;

// What the two framing fields of a message say, each over all its lines.
struct FramingFields {
  bool has_length = false;
  bool has_coding = false;
  uint64_t length_bytes = 0;
};

// All members must be the same number: two hops could pick different ones (RFC 9110 section 8.6).
std::optional<Errc> read_content_length(std::string_view value, FramingFields& out) {
  ListMembers members(value);
  while (std::optional<std::string_view> member = members.next()) {
    std::optional<uint64_t> bytes = parse_number<uint64_t>(*member);
    if (!bytes || *bytes > kBodyBytesMax || (out.has_length && *bytes != out.length_bytes))
      return Errc::malformed;
    out.has_length = true;
    out.length_bytes = *bytes;
  }
  return std::nullopt;
}

// The codings in the order in which they were applied, over all lines: chunked exactly once and
// last.
class Codings {
 public:
  std::optional<Errc> read(std::string_view value) {
    ListMembers members(value);
    while (std::optional<std::string_view> member = members.next()) {
      if (!is_token(*member) || ends_with_chunked_) return Errc::malformed;
      if (equals_ignoring_case(*member, "chunked"))
        ends_with_chunked_ = true;
      else
        has_others_ = true;
    }
    return std::nullopt;
  }
  bool ends_with_chunked() const { return ends_with_chunked_; }
  bool has_others() const { return has_others_; }

 private:
  bool ends_with_chunked_ = false;
  bool has_others_ = false;
};

// `without_chunked`: what a last coding other than chunked means. In a request nobody can tell
// where the body ends; an answer would end with the connection, in a coding that we did not ask
// for.
std::optional<Errc> read_framing(std::span<const Field> fields, int minor_version,
                                 Errc without_chunked, FramingFields& out) {
  Codings codings;
  for (const Field& field : fields) {
    std::optional<Errc> fault;
    if (field.id == FieldId::content_length) {
      fault = read_content_length(field.value, out);
    } else if (field.id == FieldId::transfer_encoding) {
      out.has_coding = true;
      fault = codings.read(field.value);
    }
    if (fault) return fault;
  }
  if (!out.has_coding) return std::nullopt;
  if (minor_version == 0) return Errc::malformed;  // RFC 9112 section 6.1
  if (!codings.ends_with_chunked()) return without_chunked;
  if (codings.has_others()) return Errc::unsupported;
  return std::nullopt;
}

bool never_has_body(int status, std::string_view method) {
  return status < 200 || status == 204 || status == 304 || method == "HEAD" ||
         (method == "CONNECT" && status < 300);
}

}  // namespace

Result<BodyLength> request_body(const RequestHead& head) {
  FramingFields found;
  std::optional<Errc> fault = read_framing(head.fields, head.minor_version, Errc::malformed, found);
  if (fault) return Error{*fault, Side::client};
  if (found.has_coding && found.has_length) return Error{Errc::malformed, Side::client};
  if (head.method == "CONNECT") {
    if (found.has_coding || found.length_bytes > 0) return Error{Errc::malformed, Side::client};
    return BodyLength{};
  }
  if (found.has_coding) return BodyLength{.kind = Kind::chunked};
  if (found.has_length) return BodyLength{.kind = Kind::length, .bytes = found.length_bytes};
  return BodyLength{};
}

Result<BodyLength> response_body(const ResponseHead& head, std::string_view method) {
  FramingFields found;
  std::optional<Errc> fault =
      read_framing(head.fields, head.minor_version, Errc::unsupported, found);
  if (fault) return Error{*fault, Side::upstream};
  bool doubtful = found.has_coding && found.has_length;
  if (never_has_body(head.status, method)) return BodyLength{.ends_connection = doubtful};
  if (found.has_coding) return BodyLength{.kind = Kind::chunked, .ends_connection = doubtful};
  if (found.has_length) return BodyLength{.kind = Kind::length, .bytes = found.length_bytes};
  return BodyLength{.kind = Kind::until_close, .ends_connection = true};
}

BodyLength body_for_client(BodyLength received, int client_minor_version) {
  if (received.kind == Kind::chunked && client_minor_version == 0)
    return {.kind = Kind::until_close, .ends_connection = true};
  return received;
}

}  // namespace headrace::http
