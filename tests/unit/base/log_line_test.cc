#include "base/log_line.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace headrace {
namespace {

std::string logged(std::string_view value) {
  std::string out;
  append_logfmt_value(out, value);
  return out;
}

// What a reader of logfmt does with a value; nullopt where it is not well formed.
std::optional<std::string> unquoted(std::string_view text) {
  if (text.empty() || text.front() != '"') return std::string(text);
  if (text.size() < 2 || text.back() != '"') return std::nullopt;
  text = text.substr(1, text.size() - 2);
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') return std::nullopt;
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    if (++i == text.size()) return std::nullopt;
    switch (text[i]) {
      case 'n':
        out += '\n';
        break;
      case 'r':
        out += '\r';
        break;
      case 't':
        out += '\t';
        break;
      case 'x':
        out += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
        i += 2;
        break;
      default:
        out += text[i];
    }
  }
  return out;
}

TEST(log_line, plain_values_stay_bare) {
  EXPECT_EQ(logged("127.0.0.1:3128"), "127.0.0.1:3128");
  EXPECT_EQ(logged("[2001:db8::1]:443"), "[2001:db8::1]:443");
  EXPECT_EQ(logged("a/b?c;d,e'f"), "a/b?c;d,e'f");
}

TEST(log_line, an_empty_value_is_seen) {
  EXPECT_EQ(logged(""), "\"\"");
}

TEST(log_line, b167_separators_controls_and_8bit_bytes_are_escaped) {
  EXPECT_EQ(logged("a\nFAKE 200"), R"("a\nFAKE 200")");
  EXPECT_EQ(logged("a\r\nb\tc"), R"("a\r\nb\tc")");
  EXPECT_EQ(logged("x=y"), R"("x=y")");
  EXPECT_EQ(logged(R"(say "hi"\now)"), R"("say \"hi\"\\now")");
  EXPECT_EQ(logged("a\nb\x1b[2J"), R"("a\nb\x1b[2J")");
  EXPECT_EQ(logged(std::string_view("\0\x7f", 2)), R"("\x00\x7f")");
  EXPECT_EQ(logged("p\xc3\xa4"), R"("p\xc3\xa4")");
  EXPECT_EQ(logged("\xff"), R"("\xff")");
}

TEST(log_line, b167_percent_signs_are_not_decoded) {
  EXPECT_EQ(logged("/%0d%0aFAKE"), "/%0d%0aFAKE");
}

TEST(log_line, b167_every_byte_comes_back_and_only_printable_ascii_is_written) {
  for (int a = 0; a < 256; ++a) {
    for (const char* around : {"", "x", "\\", "\""}) {
      const std::string original = around + std::string(1, static_cast<char>(a)) + around;
      const std::string written = logged(original);
      for (const char c : written) EXPECT_TRUE(c >= 0x20 && c < 0x7f) << a;
      EXPECT_EQ(unquoted(written), original) << a;
    }
  }
}

TEST(log_line, b167_long_values_are_cut_and_say_so) {
  const std::string at_limit(LogLine::kValueBytesMax, 'a');
  EXPECT_EQ(LogLine().add("k", at_limit).text(), "k=" + at_limit);
  EXPECT_EQ(LogLine().add("k", at_limit + "b").text(), "k=" + at_limit + "...");
  const std::string line = LogLine().add("k", std::string(8192, '\xe9')).text();
  EXPECT_LE(line.size(), 4 * LogLine::kValueBytesMax + 16);
  EXPECT_EQ(line.substr(line.size() - 4), "...\"");
}

TEST(log_line, pairs_stand_behind_each_other) {
  LogLine line;
  EXPECT_TRUE(line.empty());
  line.add("event", "closed").add("bytes", uint64_t{18446744073709551615u}).add("user", "a b");
  EXPECT_EQ(line.text(), "event=closed bytes=18446744073709551615 user=\"a b\"");
}

TEST(log_line, durations_are_seconds_with_microseconds) {
  EXPECT_EQ(LogLine().add_seconds("duration", 1250).text(), "duration=0.001250");
  EXPECT_EQ(LogLine().add_seconds("duration", 3'600'000'007).text(), "duration=3600.000007");
  EXPECT_EQ(LogLine().add_seconds("duration", 0).text(), "duration=0.000000");
}

}  // namespace
}  // namespace headrace
