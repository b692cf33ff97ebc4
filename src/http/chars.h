// Which bytes may stand where in HTTP/1 (RFC 9110 section 5.6, RFC 3986), as one table. Internal to
// http.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace headrace::http {

enum CharClass : uint8_t {
  kTokenChar = 1 << 0,   // tchar
  kValueChar = 1 << 1,   // inside a field value or a reason phrase: visible, blank, HTAB, obs-text
  kTargetChar = 1 << 2,  // inside a request target: visible or from 0x80 on
  kHostChar = 1 << 3,    // inside a Host value: uri-host and port, without the comma of lists
};

constexpr std::array<uint8_t, 256> make_char_classes() {
  std::array<uint8_t, 256> classes{};
  for (int c = 0; c < 256; ++c) {
    if ((c >= 0x20 && c != 0x7f) || c == '\t') classes[c] |= kValueChar;
    if (c > 0x20 && c != 0x7f) classes[c] |= kTargetChar;
    bool alphanumeric = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    if (alphanumeric) classes[c] |= kTokenChar | kHostChar;
  }
  for (char c : std::string_view("!#$%&'*+-.^_`|~")) classes[static_cast<uint8_t>(c)] |= kTokenChar;
  for (char c : std::string_view("-._~%!$&'()*+;=:[]"))
    classes[static_cast<uint8_t>(c)] |= kHostChar;
  return classes;
}
inline constexpr std::array<uint8_t, 256> kCharClasses = make_char_classes();

inline bool is_char(CharClass wanted, char c) {
  return (kCharClasses[static_cast<uint8_t>(c)] & wanted) != 0;
}

// The first byte in [at, end) that is not of the class, or `end`.
inline const char* skip_chars(CharClass wanted, const char* at, const char* end) {
  while (at < end && is_char(wanted, *at)) ++at;
  return at;
}
inline bool consists_of(CharClass wanted, std::string_view text) {
  const char* end = text.data() + text.size();
  return skip_chars(wanted, text.data(), end) == end;
}

// skip_chars(kValueChar, ...) eight bytes at a time: values are most of a head.
const char* skip_value_chars(const char* at, const char* end);

}  // namespace headrace::http
