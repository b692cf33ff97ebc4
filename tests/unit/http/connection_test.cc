#include "http/connection.h"

#include <gtest/gtest.h>

#include <string>

#include "heads.h"

namespace headrace::http {
namespace {

std::string described(const Result<ConnectionOptions>& options) {
  if (!options) return std::string(name_of(options.error().what));
  std::string text = options->persistent ? "persistent" : "once";
  if (options->upgrade) text += " upgrade";
  for (size_t i = 0; i < options->nominated_count; ++i)
    text += " -" + std::string(options->nominated[i]);
  return text;
}

std::string request(std::string_view lines,
                    std::string_view start = "GET http://o.test/ HTTP/1.1") {
  Request request(lines, start);
  return described(connection_options(request.head()));
}
std::string response(std::string_view lines, std::string_view start = "HTTP/1.1 200 OK") {
  Response response(lines, start);
  return described(connection_options(response.head()));
}

TEST(connection, HTTP_1_1_goes_on_unless_told_close) {
  for (auto options : {&request, &response}) {
    auto of = [&](std::string_view lines) {
      return options == &request ? request(lines) : response(lines);
    };
    EXPECT_EQ(of(""), "persistent");
    EXPECT_EQ(of("Connection: close\r\n"), "once");
    EXPECT_EQ(of("Connection: CLOSE\r\n"), "once");
    EXPECT_EQ(of("Connection: keep-alive, close\r\n"), "once");
    EXPECT_EQ(of("Connection: keep-alive\r\nConnection: close\r\n"), "once");
    EXPECT_EQ(of("Proxy-Connection: close\r\n"), "once");
    EXPECT_EQ(of("Connection: keep-alive\r\n"), "persistent");
    EXPECT_EQ(of("Connection:\r\n"), "persistent");
  }
}

TEST(connection, HTTP_1_0_ends_but_for_an_upstream_that_says_keep_alive) {
  constexpr std::string_view kRequest = "GET http://o.test/ HTTP/1.0";
  constexpr std::string_view kResponse = "HTTP/1.0 200 OK";
  EXPECT_EQ(request("", kRequest), "once");
  EXPECT_EQ(request("Connection: keep-alive\r\n", kRequest), "once");
  EXPECT_EQ(request("Proxy-Connection: keep-alive\r\n", kRequest), "once");
  EXPECT_EQ(response("", kResponse), "once");
  EXPECT_EQ(response("Connection: Keep-Alive\r\n", kResponse), "persistent");
  EXPECT_EQ(response("Connection: keep-alive, close\r\n", kResponse), "once");
  EXPECT_EQ(response("Proxy-Connection: keep-alive\r\n", kResponse), "once");
}

TEST(connection, B090_upgrade_is_compared_whole_and_needs_its_field) {
  EXPECT_EQ(request("Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n"),
            "persistent upgrade");
  EXPECT_EQ(request("Upgrade: websocket\r\nConnection: UPGRADE\r\n"), "persistent upgrade");
  EXPECT_EQ(request("Connection: upgrade-insecure-requests\r\n"),
            "persistent -upgrade-insecure-requests");
  EXPECT_EQ(request("Connection: upgrade-insecure-requests\r\nUpgrade: websocket\r\n"),
            "persistent -upgrade-insecure-requests");
  EXPECT_EQ(request("Connection: upgrade\r\n"), "persistent");
  EXPECT_EQ(request("Connection: upgrade\r\nUpgrade:\r\n"), "persistent");
  EXPECT_EQ(request("Upgrade: websocket\r\n"), "persistent");
  EXPECT_EQ(request("Proxy-Connection: upgrade\r\nUpgrade: websocket\r\n"), "persistent");
  EXPECT_EQ(request("Connection: upgrade\r\nUpgrade: websocket\r\n", "GET http://o.test/ HTTP/1.0"),
            "once");
  EXPECT_EQ(
      response("Connection: Upgrade\r\nUpgrade: websocket\r\n", "HTTP/1.1 101 Switching Protocols"),
      "persistent upgrade");
}

TEST(connection, B052_fields_named_by_any_of_its_lines_are_nominated) {
  EXPECT_EQ(request("Connection: x-foo , close\r\nConnection: X-Bar\r\nX-Foo: 1\r\n"),
            "once -x-foo -X-Bar");
  EXPECT_EQ(response("Connection: ,, x-foo ,\r\n"), "persistent -x-foo");
  EXPECT_EQ(request("Proxy-Connection: x-foo\r\n"), "persistent");
}

TEST(connection, B052_a_nomination_is_compared_whole_and_without_case) {
  Request request("Connection: x-foo, X-BAR\r\nX-Foo: 1\r\nx-bar: 2\r\nx-fo: 3\r\nx-foo2: 4\r\n");
  ConnectionOptions options = *connection_options(request.head());
  const auto& fields = request.head().fields;
  EXPECT_TRUE(options.nominates(fields[1]));
  EXPECT_TRUE(options.nominates(fields[2]));
  EXPECT_FALSE(options.nominates(fields[3]));
  EXPECT_FALSE(options.nominates(fields[4]));
}

TEST(connection, B052_what_we_write_or_need_cannot_be_nominated_away) {
  EXPECT_EQ(request("Connection: Host, Content-Length, Transfer-Encoding, Via, TE, Connection\r\n"),
            "persistent");
}

TEST(connection, a_Connection_that_is_no_list_of_tokens_is_refused) {
  for (std::string_view value : {"\"close\"", "close;x", "x y", "a/b", "x: y", "\xe4"}) {
    std::string line = "Connection: " + std::string(value) + "\r\n";
    EXPECT_EQ(request(line), "malformed") << value;
    EXPECT_EQ(response(line), "malformed") << value;
  }
}

TEST(connection, nominates_at_most_kNominatedMax_fields) {
  std::string value;
  for (size_t i = 0; i < kNominatedMax; ++i) value += "x" + std::to_string(i) + ", ";
  EXPECT_TRUE(request("Connection: " + value + "\r\n").starts_with("persistent -x0 "));
  EXPECT_EQ(request("Connection: " + value + "y\r\n"), "too_large");
  EXPECT_TRUE(request("Connection: " + value + "keep-alive\r\n").starts_with("persistent"));
}

}  // namespace
}  // namespace headrace::http
