// Text of protocols: ASCII rules only, never the locale's.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace headrace {

inline constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
inline constexpr char to_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}

inline constexpr bool equals_ignoring_case(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (to_lower(a[i]) != to_lower(b[i])) return false;
  return true;
}

inline std::string lowered(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = to_lower(c);
  return out;
}

// Without blanks and tabs at both ends (OWS of RFC 9110 section 5.6.3).
inline constexpr std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// A number written in digits of `base` and nothing else: no sign, blank or prefix; nullopt as well
// where it does not fit.
template <class Number>
std::optional<Number> parse_number(std::string_view text, int base = 10) {
  if (text.empty() || text.front() == '-' || text.front() == '+') return std::nullopt;
  Number value{};
  auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (fault != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace headrace
