#include "config/words.h"

#include <algorithm>

namespace headrace::config {

std::string in_quotes(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte >= 0x7f) {
      out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string wrapped(std::string_view text, size_t columns) {
  std::string out;
  size_t line_begin = 0;
  while (!text.empty()) {
    const size_t word_length = std::min(text.find(' '), text.size());
    if (!out.empty()) {
      const bool fits = out.size() - line_begin + 1 + word_length <= columns;
      out += fits ? ' ' : '\n';
      if (!fits) line_begin = out.size();
    }
    out += text.substr(0, word_length);
    text.remove_prefix(std::min(word_length + 1, text.size()));
  }
  return out;
}

}  // namespace headrace::config
