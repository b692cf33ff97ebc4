#include "http/answer.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "heads.h"
#include "http/framing.h"

namespace headrace::http {
namespace {

constexpr Side kSides[] = {Side::local, Side::client, Side::upstream};

std::string page(ErrorPage of) {
  std::string out;
  append_error_page(of, out);
  return out;
}

TEST(answer, an_error_page_is_whole_and_readable) {
  EXPECT_EQ(page({.error = {Errc::connect_refused, Side::upstream}}),
            "HTTP/1.1 502 Bad Gateway\r\n"
            "Content-Type: text/plain; charset=utf-8\r\n"
            "Content-Length: 56\r\n"
            "Cache-Control: no-store\r\n"
            "Proxy-Status: headrace; error=connection_refused;"
            " details=\"the destination refused the connection\"\r\n"
            "Connection: close\r\n\r\n"
            "502 Bad Gateway: the destination refused the connection\n");
}

TEST(answer, every_fault_on_every_side_has_an_answer_that_we_can_parse) {
  const std::set<int> allowed = {400, 403, 407, 408, 414, 431, 501, 502, 503, 504, 508};
  for (size_t i = 0; i < kErrcCount; ++i)
    for (Side side : kSides) {
      Error error{static_cast<Errc>(i), side};
      EXPECT_TRUE(allowed.contains(status_of(error))) << name_of(error.what);
      std::string bytes = page({.error = error});
      HeadCursor cursor;
      ResponseHead head;
      HeadParse parse = parse_response_head(bytes, cursor, head);
      ASSERT_TRUE(parse) << bytes;
      EXPECT_EQ(head.status, status_of(error));
      EXPECT_EQ(head.reason, reason_phrase(head.status));
      EXPECT_FALSE(head.reason.empty());
      BodyLength body = *response_body(head, "GET");
      EXPECT_EQ(body.bytes, bytes.size() - parse.consumed_bytes());
    }
}

TEST(answer, whose_fault_it_was_chooses_the_status) {
  EXPECT_EQ(status_of({Errc::malformed, Side::client}), 400);
  EXPECT_EQ(status_of({Errc::malformed, Side::upstream}), 502);
  EXPECT_EQ(status_of({Errc::too_large, Side::client}), 431);
  EXPECT_EQ(status_of({Errc::too_large, Side::upstream}), 502);
  EXPECT_EQ(status_of({Errc::uri_too_long, Side::client}), 414);
  EXPECT_EQ(status_of({Errc::unsupported, Side::client}), 501);
  EXPECT_EQ(status_of({Errc::unsupported, Side::upstream}), 502);
  EXPECT_EQ(status_of({Errc::timed_out, Side::client}), 408);
  EXPECT_EQ(status_of({Errc::timed_out, Side::upstream}), 504);
  EXPECT_EQ(status_of({Errc::answer_timed_out, Side::upstream}), 504);
  EXPECT_EQ(status_of({Errc::loop, Side::local}), 508);
  EXPECT_EQ(status_of({Errc::inside_denied, Side::local}), 403);
  EXPECT_EQ(status_of({Errc::out_of_descriptors, Side::local}), 503);
}

TEST(answer, B111_407_carries_the_challenge_and_others_do_not) {
  constexpr std::string_view kChallenge =
      "\r\nProxy-Authenticate: Basic realm=\"headrace\", charset=\"UTF-8\"\r\n";
  std::string unauthorized = page({.error = {Errc::unauthorized, Side::client}, .close = false});
  EXPECT_TRUE(unauthorized.starts_with("HTTP/1.1 407 Proxy Authentication Required\r\n"));
  EXPECT_NE(unauthorized.find(kChallenge), std::string::npos);
  EXPECT_EQ(page({.error = {Errc::client_denied, Side::client}}).find("Authenticate"),
            std::string::npos);
}

TEST(answer, keeps_the_connection_where_asked) {
  EXPECT_EQ(page({.error = {Errc::loop, Side::client}, .close = false}).find("Connection:"),
            std::string::npos);
}

TEST(answer, to_HEAD_announces_its_body_and_leaves_it_out) {
  std::string with = page({.error = {Errc::loop, Side::client}});
  std::string without = page({.error = {Errc::loop, Side::client}, .omit_body = true});
  EXPECT_TRUE(without.ends_with("\r\n\r\n"));
  EXPECT_TRUE(with.starts_with(without));
}

TEST(answer, B167_details_cannot_break_out_of_the_page) {
  std::string text = page({.error = {Errc::target_denied, Side::client},
                           .details = "a\"b\\c\r\nSet-Cookie: x\x01\xe4"});
  EXPECT_NE(text.find("details=\"a\\\"b\\\\c??Set-Cookie: x??\"\r\n"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("403 Forbidden: a\"b\\c??Set-Cookie: x??\n")) << text;
}

TEST(answer, an_established_tunnel_announces_no_body) {
  ResponseHead head = head_of<ResponseHead>(kTunnelEstablished);
  EXPECT_EQ(head.status, 200);
  EXPECT_TRUE(head.fields.empty());
}

}  // namespace
}  // namespace headrace::http
