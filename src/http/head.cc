#include "http/head.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/text.h"
#include "http/chars.h"

namespace headrace::http {
namespace {

enum class Kind : uint8_t { request, response };

// Where the start line begins: behind the one empty line that may come before a request.
size_t start_line_begin(std::string_view bytes, Kind kind) {
  return kind == Kind::request && bytes.starts_with("\r\n") ? 2 : 0;
}

bool holds_control(std::string_view bytes) {
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  while ((at = skip_value_chars(at, end)) < end) {
    if (*at != '\r' && *at != '\n') return true;
    ++at;
  }
  return false;
}

// Searches on for the empty line and moves the cursor. The length of the head, or 0 where its end
// has not come yet; nullopt for a line that does not end with CR LF, and an empty line in place of
// the start line.
std::optional<size_t> find_head_end(std::string_view bytes, HeadCursor& cursor, Kind kind) {
  const size_t begin = start_line_begin(bytes, kind);
  while (cursor.searched_bytes < bytes.size()) {
    const char* const from = bytes.data() + cursor.searched_bytes;
    const void* hit = std::memchr(from, '\n', bytes.size() - cursor.searched_bytes);
    if (!hit) break;
    size_t lf = static_cast<const char*>(hit) - bytes.data();
    if (lf == cursor.line_begin || bytes[lf - 1] != '\r') return std::nullopt;
    bool line_is_empty = lf == cursor.line_begin + 1;
    if (line_is_empty && cursor.line_begin > begin) return lf + 1;
    if (line_is_empty && cursor.line_begin == begin) return std::nullopt;
    cursor.searched_bytes = cursor.line_begin = static_cast<uint32_t>(lf + 1);
  }
  cursor.searched_bytes = static_cast<uint32_t>(bytes.size());
  return 0;
}

// The head's bytes from its start line on, once all are there, in `head`.
HeadParse take_head(std::string_view bytes, HeadCursor& cursor, Kind kind, std::string_view& head) {
  HEADRACE_ASSERT(cursor.searched_bytes <= bytes.size());
  std::string_view within_limit = bytes.substr(0, kHeadBytesMax);
  const size_t searched_before = cursor.searched_bytes;
  std::optional<size_t> head_bytes = find_head_end(within_limit, cursor, kind);
  if (!head_bytes) return HeadParse::fail(Errc::malformed);
  const size_t begin = start_line_begin(bytes, kind);
  if (*head_bytes > 0) {
    head = bytes.substr(begin, *head_bytes - begin);
    return HeadParse::done(Done{}, *head_bytes);
  }
  // What can never become valid is not waited for.
  if (holds_control(within_limit.substr(searched_before))) return HeadParse::fail(Errc::malformed);
  if (bytes.size() < kHeadBytesMax) return HeadParse::need_more();
  bool within_start_line = cursor.line_begin <= begin;
  return HeadParse::fail(within_start_line && kind == Kind::request ? Errc::uri_too_long
                                                                    : Errc::too_large);
}

// "HTTP/1.x" at `at`, of which at least eight bytes exist: 0 or 1; nullopt for any other protocol.
constexpr size_t kVersionBytes = 8;
std::optional<int> minor_version(const char* at) {
  if (std::memcmp(at, "HTTP/1.", kVersionBytes - 1) != 0) return std::nullopt;
  if (!is_digit(at[kVersionBytes - 1])) return std::nullopt;
  return at[kVersionBytes - 1] == '0' ? 0 : 1;
}

// Parses the start line of a whole head; where the field lines begin, or nullptr. Both can rely on
// the CR LF CR LF at the head's end.
const char* parse_request_line(std::string_view head, RequestHead& out) {
  const char* const end = head.data() + head.size();
  const char* const method = head.data();
  const char* at = skip_chars(kTokenChar, method, end);
  if (at == method || *at != ' ') return nullptr;
  out.method = {method, static_cast<size_t>(at - method)};

  const char* const target = ++at;
  at = skip_chars(kTargetChar, target, end);
  if (at == target || *at != ' ') return nullptr;
  out.target = {target, static_cast<size_t>(at - target)};

  ++at;
  if (end - at < static_cast<ptrdiff_t>(kVersionBytes + 2)) return nullptr;
  std::optional<int> version = minor_version(at);
  at += kVersionBytes;
  if (!version || at[0] != '\r' || at[1] != '\n') return nullptr;
  out.minor_version = *version;
  return at + 2;
}

const char* parse_status_line(std::string_view head, ResponseHead& out) {
  constexpr size_t kStatusBytes = 3;
  const char* at = head.data();
  const char* const end = at + head.size();
  if (head.size() < kVersionBytes + 1 + kStatusBytes + 2) return nullptr;
  std::optional<int> version = minor_version(at);
  at += kVersionBytes;
  if (!version || *at != ' ') return nullptr;
  out.minor_version = *version;

  std::optional<int> status = parse_number<int>({++at, kStatusBytes});
  at += kStatusBytes;
  if (!status || *status < 100) return nullptr;
  out.status = *status;

  const char* reason = at;
  if (*at == ' ') {
    reason = at + 1;
    at = skip_value_chars(reason, end);
  }
  if (at[0] != '\r' || at[1] != '\n') return nullptr;
  out.reason = {reason, static_cast<size_t>(at - reason)};
  return at + 2;
}

template <class Head>
HeadParse parse_fields_of(std::string_view head, const char* fields_begin, HeadParse whole,
                          Head& out) {
  if (!fields_begin) return HeadParse::fail(Errc::malformed);
  const char* const fields_end = head.data() + head.size() - 2;  // before the empty line
  out.field_lines = {fields_begin, static_cast<size_t>(fields_end - fields_begin)};
  out.fields.clear();
  std::optional<Errc> fault = parse_field_lines(out.field_lines, out.fields);
  return fault ? HeadParse::fail(*fault) : whole;
}

}  // namespace

HeadParse parse_request_head(std::string_view bytes, HeadCursor& cursor, RequestHead& out) {
  std::string_view head;
  HeadParse whole = take_head(bytes, cursor, Kind::request, head);
  if (!whole) return whole;
  return parse_fields_of(head, parse_request_line(head, out), whole, out);
}

HeadParse parse_response_head(std::string_view bytes, HeadCursor& cursor, ResponseHead& out) {
  std::string_view head;
  HeadParse whole = take_head(bytes, cursor, Kind::response, head);
  if (!whole) return whole;
  return parse_fields_of(head, parse_status_line(head, out), whole, out);
}

bool is_idempotent(std::string_view method) {
  constexpr std::string_view kIdempotent[] = {"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"};
  return std::find(std::begin(kIdempotent), std::end(kIdempotent), method) != std::end(kIdempotent);
}

}  // namespace headrace::http
