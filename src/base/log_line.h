// One line of logfmt, built in place: key=value pairs, values quoted where a reader would misread
// them, control bytes escaped, everything bounded. A log reader that undoes the quoting gets the
// original back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace headrace {

class LogLine {
 public:
  // A longer value is cut there and marked with "...".
  static constexpr size_t kValueBytesMax = 1024;

  LogLine() { text_.reserve(kUsualBytes); }

  LogLine& add(std::string_view key, std::string_view value);
  LogLine& add(std::string_view key, uint64_t value);
  // In seconds with microseconds, e.g. duration=0.001250.
  LogLine& add_seconds(std::string_view key, uint64_t microseconds);

  const std::string& text() const { return text_; }
  bool empty() const { return text_.empty(); }

 private:
  // Most lines are shorter, and made without growing.
  static constexpr size_t kUsualBytes = 384;

  std::string text_;
};

// Appends `value` as logfmt writes it: bare where it is not empty and holds none of blank, '=',
// '"',
// '\\', control and 8-bit bytes; else in double quotes with \", \\, \n, \r, \t and \xHH. UTF-8 is
// escaped as well: it can spell terminal controls (U+009B) and turn the line around (U+202E).
void append_logfmt_value(std::string& out, std::string_view value);

}  // namespace headrace
