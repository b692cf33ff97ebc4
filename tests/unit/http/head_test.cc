#include "http/head.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "heads.h"

namespace headrace::http {
namespace {

using namespace std::string_view_literals;

struct Case {
  std::string_view name;
  std::string_view bytes;
  std::string_view expected;
};

constexpr Case kRequests[] = {
    {"a plain request", "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n",
     "GET http://a.test/ 1.1 [Host=a.test]"},
    {"no fields at all", "GET / HTTP/1.0\r\n\r\n", "GET / 1.0"},
    {"a minor version of the future", "GET / HTTP/1.7\r\n\r\n", "GET / 1.1"},
    {"a method of its own", "M-SEARCH_x! / HTTP/1.1\r\n\r\n", "M-SEARCH_x! / 1.1"},
    {"lower case is another method", "get / HTTP/1.1\r\n\r\n", "get / 1.1"},
    {"one empty line in front", "\r\nGET / HTTP/1.1\r\nA: b\r\n\r\n", "GET / 1.1 [A=b]"},
    {"bytes behind the head stay", "GET / HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\n",
     "GET / 1.1 then 'GET /2 HTTP/1.1\r\n'"},
    {"blanks around a value go", "GET / HTTP/1.1\r\nA: \t b c \t \r\n\r\n", "GET / 1.1 [A=b c]"},
    {"an empty value", "GET / HTTP/1.1\r\nA:\r\nB: \t\r\n\r\n", "GET / 1.1 [A=] [B=]"},
    {"a value with HTAB and obs-text", "GET / HTTP/1.1\r\nA: b\tc\xe4\xff\r\n\r\n",
     "GET / 1.1 [A=b\tc\xe4\xff]"},
    {"a long value with HTAB", "GET / HTTP/1.1\r\nA: 0123456789abcdef\t0123456789abcdef\r\n\r\n",
     "GET / 1.1 [A=0123456789abcdef\t0123456789abcdef]"},
    {"a value full of colons", "GET / HTTP/1.1\r\nA::b:\r\n\r\n", "GET / 1.1 [A=:b:]"},
    {"every kind of token byte in a name", "GET / HTTP/1.1\r\n!#$%&'*+-.^_`|~09azAZ: b\r\n\r\n",
     "GET / 1.1 [!#$%&'*+-.^_`|~09azAZ=b]"},
    {"bytes from 0x80 on in a path", "GET /\xc3\xa4 HTTP/1.1\r\n\r\n", "GET /\xc3\xa4 1.1"},

    {"nothing yet", "", "more"},
    {"no empty line yet", "GET / HTTP/1.1\r\nA: b\r\n", "more"},
    {"half of the empty line", "GET / HTTP/1.1\r\nA: b\r\n\r", "more"},
    {"an empty line alone", "\r\n", "more"},

    {"two empty lines in front", "\r\n\r\nGET / HTTP/1.1\r\n\r\n", "malformed"},
    {"two empty lines and nothing else", "\r\n\r\n", "malformed"},
    {"a CR in front", "\rGET / HTTP/1.1\r\n\r\n", "malformed"},
    {"a LF in front", "\nGET / HTTP/1.1\r\n\r\n", "malformed"},
    {"a blank in front", " GET / HTTP/1.1\r\n\r\n", "malformed"},
    {"no method", " / HTTP/1.1\r\n\r\n", "malformed"},
    {"a method that is no token", "GE(T / HTTP/1.1\r\n\r\n", "malformed"},
    {"a method alone", "GET\r\n\r\n", "malformed"},
    {"no target", "GET  HTTP/1.1\r\n\r\n", "malformed"},
    {"HTTP/0.9", "GET /\r\n\r\n", "malformed"},
    {"an empty version", "GET / \r\n\r\n", "malformed"},
    {"two blanks before the target", "GET  / HTTP/1.1\r\n\r\n", "malformed"},
    {"two blanks before the version", "GET /  HTTP/1.1\r\n\r\n", "malformed"},
    {"a blank behind the version", "GET / HTTP/1.1 \r\n\r\n", "malformed"},
    {"a HTAB as separator", "GET\t/ HTTP/1.1\r\n\r\n", "malformed"},
    {"a blank within the target", "GET /a b HTTP/1.1\r\n\r\n", "malformed"},
    {"a delete byte in the target", "GET /\x7f HTTP/1.1\r\n\r\n", "malformed"},
    {"HTTP/2's preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "malformed"},
    {"a version in lower case", "GET / http/1.1\r\n\r\n", "malformed"},
    {"a version of two digits", "GET / HTTP/1.10\r\n\r\n", "malformed"},
    {"a version cut short", "GET / HTTP/1.\r\n\r\n", "malformed"},
    {"another protocol", "GET / ICY/1.1\r\n\r\n", "malformed"},
    {"a TLS ClientHello", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc"sv, "malformed"},

    {"a field without colon", "GET / HTTP/1.1\r\nA\r\n\r\n", "malformed"},
    {"a field without name", "GET / HTTP/1.1\r\n: b\r\n\r\n", "malformed"},
    {"a blank within a name", "GET / HTTP/1.1\r\nA b: c\r\n\r\n", "malformed"},
    {"a name that is no token", "GET / HTTP/1.1\r\nA(): c\r\n\r\n", "malformed"},
    {"obs-text in a name", "GET / HTTP/1.1\r\n\xe4: c\r\n\r\n", "malformed"},
    {"a folded line", "GET / HTTP/1.1\r\nA: b\r\n c\r\n\r\n", "malformed"},
    {"a line folded by HTAB", "GET / HTTP/1.1\r\nA: b\r\n\tc\r\n\r\n", "malformed"},
    {"a first field after a blank", "GET / HTTP/1.1\r\n A: b\r\n\r\n", "malformed"},
};

TEST(request_head, is_parsed_strictly_in_every_delivery) {
  for (const Case& c : kRequests) EXPECT_EQ(parsed_request(c.bytes), c.expected) << c.name;
}

constexpr Case kResponses[] = {
    {"a plain answer", "HTTP/1.1 200 OK\r\nServer: s\r\n\r\n", "1.1 200 'OK' [Server=s]"},
    {"HTTP/1.0", "HTTP/1.0 404 Not Found\r\n\r\n", "1.0 404 'Not Found'"},
    {"no reason", "HTTP/1.1 200 \r\n\r\n", "1.1 200 ''"},
    {"neither blank nor reason", "HTTP/1.1 200\r\n\r\n", "1.1 200 ''"},
    {"a reason with obs-text and HTAB", "HTTP/1.1 200 D\xe4\tx\r\n\r\n", "1.1 200 'D\xe4\tx'"},
    {"a status beyond the classes", "HTTP/1.1 999 x\r\n\r\n", "1.1 999 'x'"},
    {"the body stays", "HTTP/1.1 200 OK\r\n\r\nhello", "1.1 200 'OK' then 'hello'"},
    {"an interim answer in front", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
     "1.1 100 'Continue' then 'HTTP/1.1 200 OK\r\n\r\n'"},
    {"not all here", "HTTP/1.1 200 OK\r\nA: b\r\n", "more"},
    {"an empty line alone", "\r\n", "malformed"},
    {"an empty line in front", "\r\nHTTP/1.1 200 OK\r\n\r\n", "malformed"},
    {"a status of two digits", "HTTP/1.1 20 OK\r\n\r\n", "malformed"},
    {"a status of four digits", "HTTP/1.1 2000 OK\r\n\r\n", "malformed"},
    {"a status below 100", "HTTP/1.1 099 OK\r\n\r\n", "malformed"},
    {"a signed status", "HTTP/1.1 +20 OK\r\n\r\n", "malformed"},
    {"no status", "HTTP/1.1\r\n\r\n", "malformed"},
    {"two blanks before the status", "HTTP/1.1  200 OK\r\n\r\n", "malformed"},
    {"HTTP/2", "HTTP/2.0 200 OK\r\n\r\n", "malformed"},
    {"HTTP/2 as curl shows it", "HTTP/2 200\r\nA: bcdefgh\r\n\r\n", "malformed"},
    {"ICY", "ICY 200 OK and more text\r\n\r\n", "malformed"},
    {"SSH", "SSH-2.0-OpenSSH_9.2p1 Debian\r\n\r\n", "malformed"},
    {"a control byte in the reason", "HTTP/1.1 200 O\x01K\r\n\r\n", "malformed"},
    {"a folded line", "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n", "malformed"},
};

TEST(response_head, is_parsed_strictly_in_every_delivery) {
  for (const Case& c : kResponses) EXPECT_EQ(parsed_response(c.bytes), c.expected) << c.name;
}

// Both kinds of heads with the same lines.
void expect_malformed_lines(std::string_view lines) {
  std::string request = "GET http://a.test/ HTTP/1.1\r\n" + std::string(lines) + "\r\n\r\n";
  std::string response = "HTTP/1.1 200 OK\r\n" + std::string(lines) + "\r\n\r\n";
  EXPECT_EQ(parsed_request(request), "malformed") << lines;
  EXPECT_EQ(parsed_response(response), "malformed") << lines;
}

TEST(head, B060_control_bytes_in_a_value_are_refused) {
  expect_malformed_lines("X-A: a\0b"sv);
  expect_malformed_lines("X-A: a\rb"sv);
  expect_malformed_lines("X-A: a\nb"sv);
  expect_malformed_lines(
      "X-A: a\x01"
      "b"sv);
  for (int c = 0; c < 256; ++c) {
    if ((c >= 0x20 && c != 0x7f) || c == '\t') continue;
    for (std::string_view around : {"", "0123456789abcdef"}) {
      std::string value = std::string(around) + static_cast<char>(c) + std::string(around);
      expect_malformed_lines("X-A: x" + value + "y");
    }
  }
}

TEST(head, B062_a_blank_before_the_colon_is_refused) {
  expect_malformed_lines("Transfer-Encoding : chunked");
  expect_malformed_lines("Content-Length\t: 5");
  expect_malformed_lines("A: b\r\nContent-Length : 5");
}

TEST(head, B080_a_bare_LF_or_CR_ends_no_line) {
  EXPECT_EQ(parsed_request("GET http://o.test/ HTTP/1.1\nHost: o.test\nX: y\n\n"), "malformed");
  EXPECT_EQ(parsed_request("GET / HTTP/1.1\r\nHost: o.test\n\r\n"), "malformed");
  EXPECT_EQ(parsed_request("GET / HTTP/1.1\r\nHost: o.test\r\n\n"), "malformed");
  EXPECT_EQ(parsed_request("GET / HTTP/1.1\r\rHost: o.test\r\n\r\n"), "malformed");
  expect_malformed_lines("X: a\nY: b");
  expect_malformed_lines("X: a\rY: b");
  expect_malformed_lines("X: a\r\rY: b");
  expect_malformed_lines("X: a\r\r");
}

TEST(head, control_bytes_are_refused_before_the_head_is_whole) {
  EXPECT_EQ(parsed_request("GET / HTTP/1.1\r\nA: b\x01"), "malformed");
  EXPECT_EQ(parsed_request("\x05\x01\x00"sv), "malformed");
  EXPECT_EQ(parsed_response("HTTP/1.1 200 OK\r\nA: \0"sv), "malformed");
}

std::string request_of(size_t line_bytes, size_t field_bytes, size_t field_count) {
  std::string bytes = "GET http://a.test/";
  constexpr std::string_view kRest = " HTTP/1.1\r\n";
  if (line_bytes > bytes.size() + kRest.size())
    bytes.append(line_bytes - bytes.size() - kRest.size(), 'p');
  bytes += kRest;
  for (size_t i = 0; i < field_count; ++i)
    bytes += "X: " + std::string(field_bytes - std::string_view("X: \r\n").size(), 'v') + "\r\n";
  return bytes + "\r\n";
}

// In one piece as well as in segments.
void expect_request(const std::string& bytes, std::string_view expected) {
  EXPECT_EQ(parsed_from<RequestHead>(Pieces{bytes}), expected);
  EXPECT_EQ(parsed_from<RequestHead>(cut_into(bytes, 1024)), expected);
  EXPECT_EQ(parsed_from<RequestHead>(cut_into(bytes, 1021)), expected);
}

TEST(head, B058_a_long_request_line_is_414_and_long_fields_are_431) {
  expect_request(request_of(100'000, 0, 0), "uri_too_long");
  expect_request(request_of(0, 100'000, 1), "too_large");
  expect_request(request_of(0, 100, 1000), "too_large");
  expect_request("\r\n" + request_of(100'000, 0, 0), "uri_too_long");
  std::string response = "HTTP/1.1 200 " + std::string(100'000, 'r') + "\r\n\r\n";
  EXPECT_EQ(parsed_from<ResponseHead>(Pieces{response}), "too_large");
}

TEST(head, B058_a_head_that_never_ends_is_refused_at_the_limit) {
  std::string endless = "GET / HTTP/1.1\r\nA: ";
  endless.append(kHeadBytesMax - endless.size(), 'v');
  EXPECT_EQ(parsed_from<RequestHead>(Pieces{endless}), "too_large");
  endless.pop_back();
  EXPECT_EQ(parsed_from<RequestHead>(Pieces{endless}), "more");
  std::string endless_line(kHeadBytesMax, 'G');
  EXPECT_EQ(parsed_from<RequestHead>(Pieces{endless_line}), "uri_too_long");
  endless_line.pop_back();
  EXPECT_EQ(parsed_from<RequestHead>(Pieces{endless_line}), "more");
}

TEST(head, the_limit_is_exact) {
  std::string fits = request_of(kHeadBytesMax - 2, 0, 0);
  ASSERT_EQ(fits.size(), kHeadBytesMax);
  HeadCursor cursor;
  RequestHead head;
  EXPECT_EQ(parse_request_head(fits, cursor, head).consumed_bytes(), kHeadBytesMax);
  expect_request(request_of(kHeadBytesMax - 1, 0, 0), "too_large");
  expect_request(request_of(kHeadBytesMax + 1, 0, 0), "uri_too_long");
}

TEST(head, has_at_most_kFieldsMax_fields) {
  HeadCursor cursor;
  RequestHead head;
  ASSERT_TRUE(parse_request_head(request_of(0, 20, kFieldsMax), cursor, head));
  EXPECT_EQ(head.fields.size(), kFieldsMax);
  expect_request(request_of(0, 20, kFieldsMax + 1), "too_large");
}

TEST(head, B029_sixty_unknown_fields_of_8_KiB_are_accepted) {
  HeadCursor cursor;
  RequestHead head;
  EXPECT_TRUE(parse_request_head(request_of(0, 136, 60), cursor, head));
  EXPECT_EQ(head.fields.size(), 60u);
}

// Each call may look at new bytes only: else 16 KiB byte by byte would be 134 million looks.
TEST(head, the_search_for_its_end_goes_on_where_it_stopped) {
  std::string bytes = request_of(0, 100, 160);
  HeadCursor cursor;
  RequestHead head;
  ASSERT_TRUE(
      parse_request_head(std::string_view(bytes).substr(0, 8000), cursor, head).needs_more());
  EXPECT_EQ(cursor.searched_bytes, 8000u);
  // What was searched is not read again: spoiling it goes unnoticed until the head is parsed.
  std::string spoiled = bytes;
  spoiled[100] = '\n';
  std::string_view longer = std::string_view(spoiled).substr(0, 9000);
  EXPECT_TRUE(parse_request_head(longer, cursor, head).needs_more());
  EXPECT_EQ(cursor.searched_bytes, 9000u);
}

TEST(head, a_reused_head_keeps_nothing_of_the_one_before) {
  HeadCursor first;
  HeadCursor second;
  RequestHead head;
  ASSERT_TRUE(parse_request_head("GET /1 HTTP/1.0\r\nA: b\r\n\r\n", first, head));
  ASSERT_TRUE(parse_request_head("PUT /2 HTTP/1.1\r\nC: d\r\n\r\n", second, head));
  EXPECT_EQ(described(head), "PUT /2 1.1 [C=d]");
  EXPECT_EQ(head.field_lines, "C: d\r\n");
}

TEST(head, known_fields_are_recognised_without_case) {
  const std::pair<std::string_view, FieldId> known[] = {
      {"Connection", FieldId::connection},
      {"CONTENT-LENGTH", FieldId::content_length},
      {"expect", FieldId::expect},
      {"hOST", FieldId::host},
      {"HTTP2-Settings", FieldId::http2_settings},
      {"Keep-Alive", FieldId::keep_alive},
      {"Max-Forwards", FieldId::max_forwards},
      {"Proxy", FieldId::proxy},
      {"proxy-authenticate", FieldId::proxy},
      {"Proxy-Anything-Of-Its-Own", FieldId::proxy},
      {"Proxy-Support", FieldId::proxy},
      {"Proxy-Authorization", FieldId::proxy_authorization},
      {"Proxy-Connection", FieldId::proxy_connection},
      {"Proxy-Status", FieldId::proxy_status},
      {"TE", FieldId::te},
      {"Trailer", FieldId::trailer},
      {"Transfer-Encoding", FieldId::transfer_encoding},
      {"Upgrade", FieldId::upgrade},
      {"Via", FieldId::via},
      {"Proxyish", FieldId::other},
      {"prox", FieldId::other},
      {"X-Proxy", FieldId::other},
      {"Cookie", FieldId::other},
      {"Content-Lengt", FieldId::other},
      {"", FieldId::other},
  };
  for (const auto& [name, id] : known) EXPECT_EQ(identify_field(name), id) << name;
}

TEST(head, idempotent_methods_are_those_of_RFC_9110) {
  for (std::string_view method : {"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"})
    EXPECT_TRUE(is_idempotent(method)) << method;
  for (std::string_view method : {"POST", "PATCH", "CONNECT", "get", "FOO", ""})
    EXPECT_FALSE(is_idempotent(method)) << method;
}

}  // namespace
}  // namespace headrace::http
