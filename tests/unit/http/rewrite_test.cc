#include "http/rewrite.h"

#include <gtest/gtest.h>

#include <string>

#include "heads.h"

namespace headrace::http {
namespace {

constexpr std::string_view kGet = "GET http://o.test/p?q HTTP/1.1";
constexpr std::string_view kVia = "Via: 1.1 headrace (a1b2)\r\n\r\n";

std::string forwarded(std::string_view lines, std::string_view start = kGet) {
  Request request(lines, start);
  const RequestHead& head = request.head();
  RequestTarget target = *request_target(head);
  ConnectionOptions connection = *connection_options(head);
  std::string out = "<";
  append_request_head({head, target, connection, *request_body(head), "a1b2"}, out);
  return out.substr(1);
}

// With the lines that each forwarded GET has around the others.
std::string passed_request_lines(std::string_view lines) {
  const std::string out = forwarded("Host: o.test\r\n" + std::string(lines));
  constexpr std::string_view kBegin = "GET /p?q HTTP/1.1\r\nHost: o.test\r\n";
  EXPECT_TRUE(out.starts_with(kBegin)) << out;
  EXPECT_TRUE(out.ends_with(kVia)) << out;
  return out.substr(kBegin.size(), out.size() - kBegin.size() - kVia.size());
}

struct Exchange {
  std::string_view start = "HTTP/1.1 200 OK";
  std::string_view method = "GET";
  int client_minor_version = 1;
  bool close = false;
};
std::string answered(std::string_view lines, Exchange exchange = {}) {
  Response response(lines, exchange.start);
  const ResponseHead& head = response.head();
  ConnectionOptions connection = *connection_options(head);
  BodyLength body =
      body_for_client(*response_body(head, exchange.method), exchange.client_minor_version);
  std::string out;
  append_response_head({head, connection, body, "a1b2", exchange.close}, out);
  return out;
}

TEST(rewrite, a_request_goes_out_in_origin_form_with_Host_first_and_Via_last) {
  EXPECT_EQ(forwarded("User-Agent: curl/8\r\nHost: o.test\r\nAccept:*/*\r\n"),
            "GET /p?q HTTP/1.1\r\nHost: o.test\r\nUser-Agent: curl/8\r\nAccept:*/*\r\n"
            "Via: 1.1 headrace (a1b2)\r\n\r\n");
  EXPECT_EQ(forwarded("", "GET http://o.test HTTP/1.0"),
            "GET / HTTP/1.1\r\nHost: o.test\r\nVia: 1.0 headrace (a1b2)\r\n\r\n");
}

TEST(rewrite, B041_a_query_without_path_gets_its_slash) {
  EXPECT_TRUE(forwarded("Host: o.example.test\r\n", "GET http://o.example.test:80?x=1 HTTP/1.1")
                  .starts_with("GET /?x=1 HTTP/1.1\r\nHost: o.example.test\r\n"));
}

TEST(rewrite, B045_Host_is_the_targets_exactly_once) {
  EXPECT_EQ(forwarded("A: b\r\nHost: b.test\r\nC: d\r\n", "GET http://a.test:8080/ HTTP/1.1"),
            "GET / HTTP/1.1\r\nHost: a.test:8080\r\nA: b\r\nC: d\r\n" + std::string(kVia));
}

TEST(rewrite, B051_the_path_passes_byte_for_byte) {
  constexpr std::string_view kPath = "/a//b/../%2e%2e/%2F;p=1?q=%0d%0a&r=\"x\"|y";
  EXPECT_TRUE(forwarded("Host: o\r\n", "GET http://o" + std::string(kPath) + " HTTP/1.1")
                  .starts_with("GET " + std::string(kPath) + " HTTP/1.1\r\n"));
}

TEST(rewrite, B052_fields_named_by_Connection_stay_here) {
  constexpr std::string_view kLines =
      "Connection: x-foo , close\r\nConnection: X-Bar\r\nX-Foo: 1\r\nx-bar: 2\r\nX-Keep: 3\r\n";
  EXPECT_EQ(passed_request_lines(kLines), "X-Keep: 3\r\n");
  EXPECT_EQ(answered("Content-Length: 0\r\n" + std::string(kLines)),
            "HTTP/1.1 200 OK\r\nX-Keep: 3\r\nContent-Length: 0\r\n" + std::string(kVia));
}

TEST(rewrite, B052_nominating_what_frames_or_guards_a_message_has_no_effect) {
  EXPECT_EQ(forwarded("Host: o.test\r\nConnection: host, content-length, via\r\n"
                      "Content-Length: 5\r\nVia: 1.1 other\r\n",
                      "POST http://o.test/ HTTP/1.1"),
            "POST / HTTP/1.1\r\nHost: o.test\r\nVia: 1.1 other\r\nContent-Length: 5\r\n" +
                std::string(kVia));
}

TEST(rewrite, B054_the_fixed_hop_by_hop_fields_are_not_forwarded) {
  EXPECT_EQ(passed_request_lines("Proxy-Connection: keep-alive\r\nKeep-Alive: timeout=5\r\n"
                                 "TE: trailers\r\nTrailer: X-Sum\r\nUpgrade: h2c\r\n"
                                 "HTTP2-Settings: AAMAAABkAAQAAP__\r\n"
                                 "Proxy-Authorization: Basic dTpw\r\nX-A: b\r\n"
                                 "Proxy-Authenticate: Basic\r\nProxy-Foo: 1\r\n"),
            "X-A: b\r\n");
  EXPECT_EQ(answered("Proxy-Authenticate: Basic\r\nKeep-Alive: timeout=5\r\nX-A: b\r\n"
                     "Proxy-Connection: close\r\nProxy-Authentication-Info: x\r\nUpgrade: h2\r\n"
                     "Trailer: X\r\nContent-Length: 0\r\nTE: x\r\n"),
            "HTTP/1.1 200 OK\r\nX-A: b\r\nContent-Length: 0\r\n" + std::string(kVia));
}

TEST(rewrite, B105_proxy_credentials_never_reach_the_origin) {
  EXPECT_EQ(passed_request_lines("proxy-authorization: Basic dTpw\r\n"), "");
  EXPECT_EQ(passed_request_lines("Authorization: Basic dTpw\r\n"), "Authorization: Basic dTpw\r\n");
}

TEST(rewrite, B111_an_origins_own_challenge_passes) {
  EXPECT_EQ(answered("WWW-Authenticate: Basic realm=\"o\"\r\nContent-Length: 0\r\n",
                     {.start = "HTTP/1.1 401 Unauthorized"}),
            "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"o\"\r\n"
            "Content-Length: 0\r\n" +
                std::string(kVia));
}

TEST(rewrite, B056_repeated_fields_keep_their_order_and_spelling) {
  EXPECT_EQ(passed_request_lines("Cookie: a=1\r\nx-a: 1\r\nCookie: b=2\r\nX-A:  2 \r\n"),
            "Cookie: a=1\r\nx-a: 1\r\nCookie: b=2\r\nX-A:  2 \r\n");
  EXPECT_EQ(answered("Set-Cookie: a=1\r\nVary: A\r\nset-cookie: b=2\r\nContent-Length: 0\r\n"
                     "Vary: B\r\nSET-COOKIE: c=3\r\n"),
            "HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nVary: A\r\nset-cookie: b=2\r\nVary: B\r\n"
            "SET-COOKIE: c=3\r\nContent-Length: 0\r\n" +
                std::string(kVia));
}

TEST(rewrite, B064_a_field_called_Proxy_is_not_forwarded) {
  EXPECT_EQ(passed_request_lines("Proxy: http://192.0.2.9:3128\r\nX-Proxy: 1\r\n"),
            "X-Proxy: 1\r\n");
}

TEST(rewrite, B068_chunked_is_written_anew) {
  EXPECT_EQ(
      forwarded("Host: o\r\nTransfer-Encoding:\tCHUNKED \r\nA: b\r\n", "PUT http://o/ HTTP/1.1"),
      "PUT / HTTP/1.1\r\nHost: o\r\nA: b\r\nTransfer-Encoding: chunked\r\n" + std::string(kVia));
}

TEST(rewrite, B070_a_length_is_written_once_and_plainly) {
  EXPECT_EQ(forwarded("Host: o\r\nContent-Length: 005\r\nA: b\r\nContent-Length: 5, 5\r\n",
                      "PUT http://o/ HTTP/1.1"),
            "PUT / HTTP/1.1\r\nHost: o\r\nA: b\r\nContent-Length: 5\r\n" + std::string(kVia));
  EXPECT_EQ(answered("Content-Length: 007\r\nContent-Length: 7\r\n"),
            "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n" + std::string(kVia));
}

TEST(rewrite, B066_an_answer_with_both_goes_on_as_chunked_alone) {
  EXPECT_EQ(answered("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n"),
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n" + std::string(kVia));
}

TEST(rewrite, B086_Expect_passes_but_B088_not_from_a_1_0_client) {
  EXPECT_EQ(passed_request_lines("Expect: 100-continue\r\n"), "Expect: 100-continue\r\n");
  EXPECT_EQ(forwarded("Expect: 100-continue\r\n", "GET http://o/ HTTP/1.0"),
            "GET / HTTP/1.1\r\nHost: o\r\nVia: 1.0 headrace (a1b2)\r\n\r\n");
}

TEST(rewrite, B090_an_upgrade_passes_in_both_directions) {
  EXPECT_EQ(passed_request_lines("Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n"
                                 "Sec-WebSocket-Version: 13\r\n"),
            "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nConnection: upgrade\r\n");
  EXPECT_EQ(passed_request_lines("Connection: upgrade-insecure-requests\r\nA: b\r\n"), "A: b\r\n");
  EXPECT_EQ(answered("Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: x\r\n",
                     {.start = "HTTP/1.1 101 Switching Protocols"}),
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: x\r\n"
            "Connection: upgrade\r\n" +
                std::string(kVia));
}

TEST(rewrite, B092_an_ignored_upgrade_leaves_no_trace_in_the_answer) {
  EXPECT_EQ(answered("Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 2\r\n"),
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n" + std::string(kVia));
}

TEST(rewrite, an_answer_of_426_says_what_to_upgrade_to) {
  EXPECT_EQ(answered("Upgrade: websocket\r\nContent-Length: 0\r\n",
                     {.start = "HTTP/1.1 426 Upgrade Required"}),
            "HTTP/1.1 426 Upgrade Required\r\nUpgrade: websocket\r\nContent-Length: 0\r\n"
            "Connection: upgrade\r\n" +
                std::string(kVia));
}

TEST(rewrite, B094_a_1_0_client_gets_no_coding_but_the_end_of_the_connection) {
  EXPECT_EQ(
      answered("Transfer-Encoding: chunked\r\nTrailer: X\r\nA: b\r\n", {.client_minor_version = 0}),
      "HTTP/1.1 200 OK\r\nA: b\r\nConnection: close\r\n" + std::string(kVia));
}

TEST(rewrite, B096_an_answer_without_length_says_that_the_connection_ends) {
  EXPECT_EQ(answered("Content-Type: text/event-stream\r\n"),
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n" +
                std::string(kVia));
}

TEST(rewrite, B100_close_is_said_when_it_is_meant) {
  EXPECT_EQ(answered("Content-Length: 0\r\nConnection: keep-alive\r\n", {.close = true}),
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n" + std::string(kVia));
}

TEST(rewrite, B021_a_length_that_frames_nothing_is_kept_where_it_informs) {
  constexpr std::string_view kLength = "Content-Length: 000100000\r\n";
  EXPECT_EQ(answered(kLength, {.method = "HEAD"}),
            "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n" + std::string(kVia));
  EXPECT_EQ(answered(kLength, {.start = "HTTP/1.1 304 Not Modified"}),
            "HTTP/1.1 304 Not Modified\r\nContent-Length: 100000\r\n" + std::string(kVia));
  EXPECT_EQ(answered(kLength, {.start = "HTTP/1.1 204 No Content"}),
            "HTTP/1.1 204 No Content\r\n" + std::string(kVia));
  EXPECT_EQ(answered(kLength, {.start = "HTTP/1.1 100 Continue"}),
            "HTTP/1.1 100 Continue\r\n" + std::string(kVia));
}

TEST(rewrite, an_answer_says_HTTP_1_1_and_names_the_version_it_came_with) {
  EXPECT_EQ(answered("Content-Length: 0\r\n", {.start = "HTTP/1.0 200"}),
            "HTTP/1.1 200 \r\nContent-Length: 0\r\nVia: 1.0 headrace (a1b2)\r\n\r\n");
}

TEST(rewrite, Proxy_Status_of_others_passes_to_the_client_only) {
  EXPECT_EQ(answered("Proxy-Status: cdn; error=dns_error\r\nContent-Length: 0\r\n"),
            "HTTP/1.1 200 OK\r\nProxy-Status: cdn; error=dns_error\r\nContent-Length: 0\r\n" +
                std::string(kVia));
  EXPECT_EQ(passed_request_lines("Proxy-Status: x\r\n"), "");
}

TEST(rewrite, Max_Forwards_counts_down_for_TRACE_and_OPTIONS) {
  EXPECT_EQ(forwarded("Host: o\r\nMax-Forwards: 7\r\n", "TRACE http://o/ HTTP/1.1"),
            "TRACE / HTTP/1.1\r\nHost: o\r\nMax-Forwards: 6\r\n" + std::string(kVia));
  EXPECT_EQ(forwarded("Host: o\r\nMax-Forwards: x\r\n", "OPTIONS http://o HTTP/1.1"),
            "OPTIONS * HTTP/1.1\r\nHost: o\r\nMax-Forwards: x\r\n" + std::string(kVia));
  EXPECT_EQ(passed_request_lines("Max-Forwards: 7\r\n"), "Max-Forwards: 7\r\n");
}

bool is_loop(std::string_view lines) {
  return came_through_us(Request("Host: o\r\n" + std::string(lines), kGet).head(), "a1b2");
}

TEST(via, B146_our_own_entry_means_a_loop) {
  EXPECT_TRUE(is_loop("Via: 1.1 headrace (a1b2)\r\n"));
  EXPECT_TRUE(is_loop("Via: 1.1 other (x, y (z)), 1.0 headrace (a1b2), 1.1 last\r\n"));
  EXPECT_TRUE(is_loop("Via: 1.1 a\r\nVia: HTTP/1.1\t headrace\t(a1b2)\r\n"));
  EXPECT_TRUE(is_loop("Via: 1.1 headrace\r\n"));
  EXPECT_TRUE(is_loop("Via: 1.1 HeadRace,1.1 x\r\n"));
  EXPECT_TRUE(is_loop("Via: 1.1 a (\\)), 1.1 headrace(a1b2)\r\n"));
}

TEST(via, B146_other_proxies_are_no_loop) {
  EXPECT_FALSE(is_loop(""));
  EXPECT_FALSE(is_loop("Via: 1.1 headrace (other)\r\n"));
  EXPECT_FALSE(is_loop("Via: 1.1 headrace (A1B2)\r\n"));
  EXPECT_FALSE(is_loop("Via: 1.1 headrace-2, 1.1 xheadrace, 1.1 headrace:80\r\n"));
  EXPECT_FALSE(is_loop("Via: 1.1 other (1.1 headrace)\r\n"));
  EXPECT_FALSE(is_loop("Via: 1.1 other (x, 1.1 headrace (a1b2))\r\n"));
  EXPECT_FALSE(is_loop("Via: headrace 1.1\r\n"));
  EXPECT_FALSE(is_loop("X-Via: 1.1 headrace (a1b2)\r\n"));
}

TEST(via, what_is_no_entry_is_read_without_harm) {
  for (std::string_view value :
       {"", ",", "(", "1.1 (", "1.1 x (\\", "1.1 headrace (", "))", "a(b)c(d)"})
    EXPECT_FALSE(is_loop("Via: " + std::string(value) + "\r\n")) << value;
}

TEST(via, what_we_write_is_what_we_look_for) {
  EXPECT_TRUE(came_through_us(head_of<RequestHead>(forwarded("Host: o\r\n")), "a1b2"));
  EXPECT_FALSE(came_through_us(head_of<RequestHead>(forwarded("Host: o\r\n")), "c3d4"));
}

}  // namespace
}  // namespace headrace::http
