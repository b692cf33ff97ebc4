#include "http/field.h"

#include <cstring>

#include "base/text.h"
#include "http/chars.h"

namespace headrace::http {
namespace {

FieldId match(std::string_view name, std::string_view known, FieldId id) {
  return equals_ignoring_case(name, known) ? id : FieldId::other;
}

bool begins_with_proxy(std::string_view name) {
  return name.size() >= 5 && equals_ignoring_case(name.substr(0, 5), "proxy") &&
         (name.size() == 5 || name[5] == '-');
}

// Whether a byte of the eight is below 0x20 or is 0x7f. Bytes are not told apart: a HTAB, which is
// fine, says yes as well and is looked at singly.
bool holds_control(uint64_t eight) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  constexpr uint64_t kHighs = 0x80 * kOnes;
  uint64_t below_blank = (eight - 0x20 * kOnes) & ~eight;
  uint64_t without_delete = eight ^ (0x7f * kOnes);
  uint64_t is_delete = (without_delete - kOnes) & ~without_delete;
  return ((below_blank | is_delete) & kHighs) != 0;
}

}  // namespace

const char* skip_value_chars(const char* at, const char* end) {
  while (end - at >= 8) {
    uint64_t eight;
    std::memcpy(&eight, at, sizeof eight);
    if (holds_control(eight)) break;
    at += 8;
  }
  return skip_chars(kValueChar, at, end);
}

FieldId identify_field(std::string_view name) {
  FieldId id = FieldId::other;
  switch (name.size()) {
    case 2:
      return match(name, "te", FieldId::te);
    case 3:
      return match(name, "via", FieldId::via);
    case 4:
      return match(name, "host", FieldId::host);
    case 6:
      return match(name, "expect", FieldId::expect);
    case 7:
      id = match(name, "upgrade", FieldId::upgrade);
      return id != FieldId::other ? id : match(name, "trailer", FieldId::trailer);
    case 10:
      id = match(name, "connection", FieldId::connection);
      return id != FieldId::other ? id : match(name, "keep-alive", FieldId::keep_alive);
    case 12:
      id = match(name, "max-forwards", FieldId::max_forwards);
      if (id == FieldId::other) id = match(name, "proxy-status", FieldId::proxy_status);
      break;
    case 14:
      id = match(name, "content-length", FieldId::content_length);
      if (id == FieldId::other) id = match(name, "http2-settings", FieldId::http2_settings);
      break;
    case 16:
      id = match(name, "proxy-connection", FieldId::proxy_connection);
      break;
    case 17:
      id = match(name, "transfer-encoding", FieldId::transfer_encoding);
      break;
    case 19:
      id = match(name, "proxy-authorization", FieldId::proxy_authorization);
      break;
    default:
      break;
  }
  if (id == FieldId::other && begins_with_proxy(name)) return FieldId::proxy;
  return id;
}

std::optional<Errc> parse_field_lines(std::string_view lines, std::vector<Field>& out) {
  const char* at = lines.data();
  const char* const end = at + lines.size();
  while (at < end) {
    const char* name_begin = at;
    at = skip_chars(kTokenChar, at, end);
    if (at == name_begin || at == end || *at != ':') return Errc::malformed;
    std::string_view name(name_begin, at - name_begin);

    const char* value_begin = ++at;
    at = skip_value_chars(at, end);
    if (end - at < 2 || at[0] != '\r' || at[1] != '\n') return Errc::malformed;
    std::string_view value(value_begin, at - value_begin);
    at += 2;

    if (out.size() == kFieldsMax) return Errc::too_large;
    out.push_back({name, trimmed(value), identify_field(name)});
  }
  return std::nullopt;
}

const Field* find_field(std::span<const Field> fields, FieldId id) {
  for (const Field& field : fields)
    if (field.id == id) return &field;
  return nullptr;
}

bool is_token(std::string_view text) {
  return !text.empty() && consists_of(kTokenChar, text);
}

std::optional<std::string_view> ListMembers::next() {
  if (ended_) return std::nullopt;
  size_t comma = rest_.find(',');
  std::string_view member = trimmed(rest_.substr(0, comma));
  ended_ = comma == std::string_view::npos;
  if (!ended_) rest_.remove_prefix(comma + 1);
  return member;
}

}  // namespace headrace::http
