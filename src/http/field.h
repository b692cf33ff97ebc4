// Field lines of HTTP/1 heads and trailers (RFC 9110 section 5, RFC 9112 section 5), as views into
// the bytes they came in. Names that mean something to a proxy are recognised once, while parsing;
// what comes later (framing, connection, rewriting) compares numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace headrace::http {

enum class FieldId : uint8_t {
  other,
  connection,
  content_length,
  expect,
  host,
  http2_settings,  // of an upgrade to h2c; belongs to one connection (RFC 7540 section 3.2.1)
  keep_alive,
  max_forwards,
  proxy,  // "Proxy", and every "Proxy-..." that has no enumerator of its own
  proxy_authorization,
  proxy_connection,
  proxy_status,
  te,
  trailer,
  transfer_encoding,
  upgrade,
  via,
};

struct Field {
  std::string_view name;
  std::string_view value;  // without the blanks around it
  FieldId id = FieldId::other;
};

// Most fields of one head or trailer; far beyond what browsers and origins send (20 to 60), low
// enough that work per field pair stays small. More is too_large.
inline constexpr size_t kFieldsMax = 256;

FieldId identify_field(std::string_view name);

// Parses whole field lines, each with its CR LF, and appends them to `out`. Strict: the name is a
// token directly before the colon, no folded lines, no bare CR or LF, no control bytes but HTAB in
// the value. nullopt where all is well; else malformed, or too_large beyond kFieldsMax.
std::optional<Errc> parse_field_lines(std::string_view lines, std::vector<Field>& out);

// The first field of that kind, or nullptr.
const Field* find_field(std::span<const Field> fields, FieldId id);

// A token of RFC 9110 section 5.6.2: a method, a field name, a connection option, a coding.
bool is_token(std::string_view text);

// Cuts the next member off a comma-separated list, without the blanks around it; it may be empty
// (RFC 9110 section 5.6.1 leaves it to the field whether that is tolerated). nullopt at the end.
// For lists whose members know no quotes and comments.
class ListMembers {
 public:
  explicit ListMembers(std::string_view list) : rest_(list) {}
  std::optional<std::string_view> next();

 private:
  std::string_view rest_;
  bool ended_ = false;
};

}  // namespace headrace::http
