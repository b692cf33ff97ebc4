#include "base/log_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace headrace {
namespace {

constexpr std::string_view kCutMark = "...";

bool is_control_or_8bit(char c) {
  const unsigned char byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte >= 0x7f;
}

bool needs_quotes(char c) {
  return c == ' ' || c == '=' || c == '"' || c == '\\' || is_control_or_8bit(c);
}

void append_escaped(std::string& out, std::string_view value) {
  for (const char c : value) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (is_control_or_8bit(c))
          fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(c));
        else
          out.push_back(c);
    }
  }
}

void append_key(std::string& out, std::string_view key) {
  if (!out.empty()) out.push_back(' ');
  out.append(key);
  out.push_back('=');
}

}  // namespace

void append_logfmt_value(std::string& out, std::string_view value) {
  if (!value.empty() && std::none_of(value.begin(), value.end(), needs_quotes)) {
    out.append(value);
    return;
  }
  out.push_back('"');
  append_escaped(out, value);
  out.push_back('"');
}

LogLine& LogLine::add(std::string_view key, std::string_view value) {
  append_key(text_, key);
  if (value.size() <= kValueBytesMax) {
    append_logfmt_value(text_, value);
  } else {
    std::string cut(value.substr(0, kValueBytesMax));
    append_logfmt_value(text_, cut.append(kCutMark));
  }
  return *this;
}

LogLine& LogLine::add(std::string_view key, uint64_t value) {
  append_key(text_, key);
  fmt::format_to(std::back_inserter(text_), "{}", value);
  return *this;
}

LogLine& LogLine::add_seconds(std::string_view key, uint64_t microseconds) {
  append_key(text_, key);
  fmt::format_to(std::back_inserter(text_), "{}.{:06}", microseconds / 1'000'000,
                 microseconds % 1'000'000);
  return *this;
}

}  // namespace headrace
