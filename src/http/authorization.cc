#include "http/authorization.h"

#include <algorithm>
#include <cstdint>

#include "base/text.h"

namespace headrace::http {
namespace {

constexpr Error kUnauthorized{Errc::unauthorized, Side::client};

// The six bits that a base64 digit stands for, or -1.
int base64_value(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  if (c == '/') return 63;
  return -1;
}

// Exactly one text stands for each sequence of bytes; everything else is refused.
bool decode_base64(std::string_view text, std::string& out) {
  out.clear();
  if (text.size() % 4 != 0) return false;
  size_t padding = 0;
  while (padding < 2 && text.ends_with('=')) {
    text.remove_suffix(1);
    ++padding;
  }
  uint32_t bits = 0;
  int bit_count = 0;
  for (char c : text) {
    int value = base64_value(c);
    if (value < 0) return false;
    bits = (bits << 6 | static_cast<uint32_t>(value)) & 0xffff;
    bit_count += 6;
    if (bit_count < 8) continue;
    bit_count -= 8;
    out += static_cast<char>(bits >> bit_count & 0xff);
  }
  uint32_t spare_bits = bits & ((1u << bit_count) - 1);
  return spare_bits == 0;
}

// What stands behind the scheme, without blanks; empty for other schemes.
std::string_view basic_token(std::string_view value) {
  constexpr std::string_view kScheme = "basic";
  if (value.size() <= kScheme.size() || value[kScheme.size()] != ' ') return {};
  if (!equals_ignoring_case(value.substr(0, kScheme.size()), kScheme)) return {};
  return trimmed(value.substr(kScheme.size()));
}

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

}  // namespace

Result<Credentials> proxy_credentials(const RequestHead& head, std::string& scratch) {
  const Field* found = nullptr;
  for (const Field& field : head.fields) {
    if (field.id != FieldId::proxy_authorization) continue;
    if (found) return Error{Errc::malformed, Side::client};
    found = &field;
  }
  if (!found || !decode_base64(basic_token(found->value), scratch)) return kUnauthorized;
  size_t colon = scratch.find(':');
  if (colon == std::string::npos || std::any_of(scratch.begin(), scratch.end(), is_control))
    return kUnauthorized;
  std::string_view decoded = scratch;
  return Credentials{decoded.substr(0, colon), decoded.substr(colon + 1)};
}

}  // namespace headrace::http
