#include "answer_head.h"

#include <gtest/gtest.h>

namespace headrace::load {
namespace {

TEST(AnswerHead, tells_status_length_and_whether_the_connection_stays) {
  AnswerHead head;
  const std::string_view text = "HTTP/1.1 200 OK\r\nX: y\r\ncontent-LENGTH:  12 \r\n\r\nbody";
  ASSERT_EQ(parse_answer_head(text, head), HeadState::complete);
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.content_length, 12u);
  EXPECT_TRUE(head.keep_alive);
  EXPECT_EQ(text.substr(head.head_bytes), "body");
}

TEST(AnswerHead, keeps_connections_by_version_and_connection_field) {
  const auto keeps = [](std::string_view text) {
    AnswerHead head;
    EXPECT_EQ(parse_answer_head(text, head), HeadState::complete) << text;
    return head.keep_alive;
  };
  EXPECT_TRUE(keeps("HTTP/1.1 200 OK\r\n\r\n"));
  EXPECT_FALSE(keeps("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"));
  EXPECT_FALSE(keeps("HTTP/1.0 200 OK\r\n\r\n"));
  EXPECT_TRUE(keeps("HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\n\r\n"));
}

TEST(AnswerHead, waits_for_the_empty_line_but_not_for_ever) {
  AnswerHead head;
  const std::string_view whole = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n";
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_EQ(parse_answer_head(whole.substr(0, length), head), HeadState::incomplete);
  }
  EXPECT_EQ(parse_answer_head(std::string(kHeadBytesMax, 'x'), head), HeadState::malformed);
}

TEST(AnswerHead, refuses_what_is_no_answer) {
  AnswerHead head;
  EXPECT_EQ(parse_answer_head("GET / HTTP/1.1\r\n\r\n", head), HeadState::malformed);
  EXPECT_EQ(parse_answer_head("HTTP/1.1 2x0 OK\r\n\r\n", head), HeadState::malformed);
  EXPECT_EQ(parse_answer_head("HTTP/1.1\r\n\r\n", head), HeadState::malformed);
  EXPECT_EQ(parse_answer_head("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", head),
            HeadState::malformed);
}

}  // namespace
}  // namespace headrace::load
