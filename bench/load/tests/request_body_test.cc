#include "request_body.h"

#include <gtest/gtest.h>

#include <string>

namespace headrace::load {
namespace {

using State = RequestBody::State;

// The body read from `text` in pieces; `rest` is what lies behind its end.
State read(RequestBody& body, std::string_view text, size_t piece, std::string& content,
           std::string& rest) {
  content.clear();
  while (!text.empty() && body.state() == State::going_on) {
    std::string_view bytes = text.substr(0, piece);
    const size_t before = bytes.size();
    std::string_view part;
    body.take(bytes, part);
    content += part;
    text.remove_prefix(before - bytes.size());
  }
  rest = text;
  return body.state();
}

struct Case {
  const char* what;
  std::string_view text;
  State end;
  std::string_view content;
  std::string_view rest;
};

constexpr Case kChunked[] = {
    {"two chunks", "4\r\nWiki\r\n5\r\npedia\r\n0\r\n\r\nNEXT", State::complete, "Wikipedia",
     "NEXT"},
    {"empty", "0\r\n\r\n", State::complete, "", ""},
    {"hexadecimal size in either case", "A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n",
     State::complete, "01234567890123456789", ""},
    {"extension and trailer", "2;x=1\r\nab\r\n0\r\nT: 1\r\n\r\n", State::complete, "ab", ""},
    {"unfinished", "4\r\nWi", State::going_on, "Wi", ""},
    {"no size", "\r\nab", State::malformed, "", "ab"},
    {"size that is none", "x\r\n", State::malformed, "", "\r\n"},
    {"chunk longer than its size", "2\r\nabc\r\n", State::malformed, "ab", "\r\n"},
};

TEST(RequestBody, chunked_bodies_are_read_however_they_are_cut) {
  for (const Case& c : kChunked) {
    for (size_t piece = 1; piece <= c.text.size(); ++piece) {
      RequestBody body;
      body.begin_chunked();
      std::string content, rest;
      ASSERT_EQ(read(body, c.text, piece, content, rest), c.end) << c.what << ", pieces " << piece;
      EXPECT_EQ(content, c.content) << c.what;
      if (c.end != State::malformed) {
        EXPECT_EQ(rest, c.rest) << c.what;
      }
    }
  }
}

TEST(RequestBody, a_body_of_known_length_ends_there) {
  RequestBody body;
  body.begin_length(5);
  std::string content, rest;
  EXPECT_EQ(read(body, "helloNEXT", 2, content, rest), State::complete);
  EXPECT_EQ(content, "hello");
  EXPECT_EQ(rest, "NEXT");
  body.begin_length(0);
  EXPECT_EQ(body.state(), State::complete);
}

}  // namespace
}  // namespace headrace::load
