#include "http/framing.h"

#include <gtest/gtest.h>

#include <string>

#include "heads.h"

namespace headrace::http {
namespace {

std::string described(const Result<BodyLength>& body, Side side) {
  if (!body) {
    EXPECT_EQ(body.error().whose, side);
    return std::string(name_of(body.error().what));
  }
  std::string end = body->ends_connection ? ", ends" : "";
  switch (body->kind) {
    case BodyLength::Kind::none:
      return "none" + end;
    case BodyLength::Kind::length:
      return std::to_string(body->bytes) + end;
    case BodyLength::Kind::chunked:
      return "chunked" + end;
    case BodyLength::Kind::until_close:
      return "until close" + end;
  }
  return {};
}

std::string request(std::string_view lines,
                    std::string_view start = "POST http://o.example.test/ HTTP/1.1") {
  return described(request_body(Request(lines, start).head()), Side::client);
}
std::string response(std::string_view lines, std::string_view start = "HTTP/1.1 200 OK",
                     std::string_view method = "GET") {
  return described(response_body(Response(lines, start).head(), method), Side::upstream);
}

TEST(framing, B066_a_request_with_length_and_coding_is_refused) {
  EXPECT_EQ(request("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n"), "malformed");
  EXPECT_EQ(request("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n"), "malformed");
  EXPECT_EQ(request("Transfer-Encoding: chunked\r\nContent-Length: 0\r\n"), "malformed");
}

TEST(framing, B066_an_answer_with_length_and_coding_is_chunked_and_the_last) {
  EXPECT_EQ(response("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n"), "chunked, ends");
  EXPECT_EQ(response("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n"), "chunked, ends");
}

TEST(framing, B066_coding_in_HTTP_1_0_is_refused) {
  EXPECT_EQ(request("Transfer-Encoding: chunked\r\n", "POST http://o.test/ HTTP/1.0"), "malformed");
  EXPECT_EQ(response("Transfer-Encoding: chunked\r\n", "HTTP/1.0 200 OK"), "malformed");
}

TEST(framing, B068_chunked_is_recognised_whole_last_and_once) {
  struct Case {
    std::string_view value;
    std::string_view in_request;
    std::string_view in_response;
  };
  constexpr Case kCases[] = {
      {"chunked", "chunked", "chunked"},
      {"Chunked", "chunked", "chunked"},
      {"CHUNKED", "chunked", "chunked"},
      {"xchunked", "malformed", "unsupported"},
      {"chunkedx", "malformed", "unsupported"},
      {"chunked, identity", "malformed", "malformed"},
      {"identity, chunked", "unsupported", "unsupported"},
      {"identity", "malformed", "unsupported"},
      {"chunked,", "malformed", "malformed"},
      {",chunked", "malformed", "malformed"},
      {"", "malformed", "malformed"},
      {",", "malformed", "malformed"},
      {"\"chunked\"", "malformed", "malformed"},
      {"chunked;q=1", "malformed", "malformed"},
      {"chunked chunked", "malformed", "malformed"},
      {"chunked, chunked", "malformed", "malformed"},
      {"gzip", "malformed", "unsupported"},
      {"gzip, chunked", "unsupported", "unsupported"},
      {"gzip\t,\tchunked", "unsupported", "unsupported"},
      {"chun\xe4ked", "malformed", "malformed"},
  };
  for (const Case& c : kCases) {
    std::string line = "Transfer-Encoding: " + std::string(c.value) + "\r\n";
    EXPECT_EQ(request(line), c.in_request) << c.value;
    EXPECT_EQ(response(line), c.in_response) << c.value;
  }
}

TEST(framing, B068_codings_are_counted_over_all_lines) {
  EXPECT_EQ(request("Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n"),
            "unsupported");
  EXPECT_EQ(request("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), "malformed");
  EXPECT_EQ(request("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n"), "malformed");
  EXPECT_EQ(request("Transfer-Encoding:\r\nTransfer-Encoding: chunked\r\n"), "malformed");
}

TEST(framing, B070_a_length_is_one_number) {
  struct Case {
    std::string_view lines;
    std::string_view expected;
  };
  constexpr Case kCases[] = {
      {"Content-Length: 5\r\n", "5"},
      {"Content-Length: 0\r\n", "0"},
      {"Content-Length: 005\r\n", "5"},
      {"Content-Length: 9223372036854775807\r\n", "9223372036854775807"},
      {"Content-Length: 9223372036854775808\r\n", "malformed"},
      {"Content-Length: 18446744073709551615\r\n", "malformed"},
      {"Content-Length: 5\r\nContent-Length: 5\r\n", "5"},
      {"Content-Length: 5\r\nContent-Length: 05\r\n", "5"},
      {"Content-Length: 5, 5\r\n", "5"},
      {"Content-Length: 5\r\nContent-Length: 6\r\n", "malformed"},
      {"Content-Length: 0\r\nContent-Length: 6\r\n", "malformed"},
      {"Content-Length: 5,6\r\n", "malformed"},
      {"Content-Length:\r\n", "malformed"},
      {"Content-Length:\r\nContent-Length: 5\r\n", "malformed"},
      {"Content-Length: 5\r\nContent-Length:\r\n", "malformed"},
      {"Content-Length: 5,\r\n", "malformed"},
      {"Content-Length: ,5\r\n", "malformed"},
      {"Content-Length: +5\r\n", "malformed"},
      {"Content-Length: -1\r\n", "malformed"},
      {"Content-Length: 0x5\r\n", "malformed"},
      {"Content-Length: 5 5\r\n", "malformed"},
      {"Content-Length: 5;\r\n", "malformed"},
      {"Content-Length: 5.0\r\n", "malformed"},
      {"Content-Length: 1e3\r\n", "malformed"},
      {"Content-Length: \"5\"\r\n", "malformed"},
      {"Content-Length: 18446744073709551616\r\n", "malformed"},
      {"Content-Length: 18446744073709551621\r\n", "malformed"},
      {"Content-Length: 99999999999999999999999999\r\n", "malformed"},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(request(c.lines), c.expected) << c.lines;
    EXPECT_EQ(response(c.lines), c.expected) << c.lines;
  }
}

TEST(framing, B082_every_method_may_have_a_body) {
  for (std::string_view method : {"GET", "HEAD", "DELETE", "FOO", "OPTIONS"}) {
    std::string start = std::string(method) + " http://o.example.test/ HTTP/1.1";
    EXPECT_EQ(request("Content-Length: 60\r\n", start), "60") << method;
    EXPECT_EQ(request("Transfer-Encoding: chunked\r\n", start), "chunked") << method;
    EXPECT_EQ(request("", start), "none") << method;
  }
}

TEST(framing, B039_CONNECT_announces_no_body) {
  constexpr std::string_view kConnect = "CONNECT o.example.test:9 HTTP/1.1";
  EXPECT_EQ(request("Content-Length: 5\r\n", kConnect), "malformed");
  EXPECT_EQ(request("Transfer-Encoding: chunked\r\n", kConnect), "malformed");
  EXPECT_EQ(request("Content-Length: 0\r\n", kConnect), "none");
  EXPECT_EQ(request("", kConnect), "none");
}

TEST(framing, B021_answers_that_have_no_body_by_definition) {
  constexpr std::string_view kLength = "Content-Length: 100000\r\n";
  EXPECT_EQ(response(kLength, "HTTP/1.1 200 OK", "HEAD"), "none");
  EXPECT_EQ(response("Transfer-Encoding: chunked\r\n", "HTTP/1.1 200 OK", "HEAD"), "none");
  EXPECT_EQ(response("", "HTTP/1.1 200 OK", "HEAD"), "none");
  for (std::string_view start :
       {"HTTP/1.1 100 Continue", "HTTP/1.1 101 Switching Protocols", "HTTP/1.1 103 Early Hints",
        "HTTP/1.1 204 No Content", "HTTP/1.1 304 Not Modified"})
    EXPECT_EQ(response(kLength, start), "none") << start;
  EXPECT_EQ(response(kLength, "HTTP/1.1 200 OK", "CONNECT"), "none");
  EXPECT_EQ(response(kLength, "HTTP/1.1 299 Odd", "CONNECT"), "none");
  EXPECT_EQ(response(kLength, "HTTP/1.1 407 Proxy Authentication Required", "CONNECT"), "100000");
  EXPECT_EQ(response(kLength, "HTTP/1.1 205 Reset Content"), "100000");
}

TEST(framing, an_answer_without_length_lasts_until_the_connection_ends) {
  EXPECT_EQ(response(""), "until close, ends");
  EXPECT_EQ(response("", "HTTP/1.0 200 OK"), "until close, ends");
  EXPECT_EQ(response("", "HTTP/1.1 404 Not Found", "POST"), "until close, ends");
}

TEST(framing, B094_a_1_0_client_gets_no_chunks) {
  constexpr BodyLength kChunked{.kind = BodyLength::Kind::chunked};
  constexpr BodyLength kLength{.kind = BodyLength::Kind::length, .bytes = 7};
  EXPECT_EQ(body_for_client(kChunked, 0).kind, BodyLength::Kind::until_close);
  EXPECT_TRUE(body_for_client(kChunked, 0).ends_connection);
  EXPECT_EQ(body_for_client(kChunked, 1), kChunked);
  EXPECT_EQ(body_for_client(kLength, 0), kLength);
}

}  // namespace
}  // namespace headrace::http
