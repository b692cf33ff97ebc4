// Runs a parser over one message in every way in which a network can deliver it: whole, cut at
// every position (which is byte by byte as well: parsers keep nothing between calls), and with
// other bytes behind it. Each piece lies in memory of exactly its size, so that a sanitizer sees a
// read beyond it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/parse.h"

namespace headrace::socks {

template <class T>
Parse<T> parse_exactly(Parse<T> (*parse)(ByteSpan), std::string_view bytes) {
  const std::vector<uint8_t> copy(bytes.begin(), bytes.end());
  return parse(copy);
}

// `told(value)` is the value in words; `message` must give `expected`, and need all of its bytes.
template <class T>
void expect_value(Parse<T> (*parse)(ByteSpan), std::string_view message,
                  std::string (*told)(const T&), const std::string& expected) {
  for (size_t cut = 0; cut < message.size(); ++cut)
    EXPECT_TRUE(parse_exactly(parse, message.substr(0, cut)).needs_more()) << "cut at " << cut;

  using namespace std::string_view_literals;
  for (const std::string_view payload :
       {""sv, "\0"sv, "\x05"sv, "GET / HTTP/1.1\r\n\r\n"sv, "\xff\xff"sv}) {
    const std::string bytes = std::string(message).append(payload);
    const Parse<T> parsed = parse_exactly(parse, bytes);
    ASSERT_TRUE(parsed) << "payload of " << payload.size() << " bytes";
    EXPECT_EQ(told(*parsed), expected);
    EXPECT_EQ(parsed.consumed_bytes(), message.size())
        << "payload of " << payload.size() << " bytes";
  }
}

// `message` must fail at its last byte, not before, and whatever follows.
template <class T>
void expect_failure(Parse<T> (*parse)(ByteSpan), std::string_view message, Errc why) {
  for (size_t cut = 0; cut < message.size(); ++cut)
    EXPECT_TRUE(parse_exactly(parse, message.substr(0, cut)).needs_more()) << "cut at " << cut;
  using namespace std::string_view_literals;
  for (const std::string_view payload : {""sv, "\0"sv, "\x01"sv, "payload\0"sv}) {
    const Parse<T> parsed = parse_exactly(parse, std::string(message).append(payload));
    ASSERT_TRUE(parsed.failed());
    EXPECT_EQ(parsed.error(), why);
  }
}

}  // namespace headrace::socks
