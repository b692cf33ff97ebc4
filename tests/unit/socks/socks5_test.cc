#include "socks/socks5.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "parse_cuts.h"

namespace headrace::socks {
namespace {

using namespace std::string_literals;

std::string told(const Greeting& greeting) {
  return std::string(greeting.offers_none ? "none " : "") +
         (greeting.offers_password ? "password " : "");
}

TEST(socks5, b112_greetings_are_read_at_any_segmentation) {
  expect_value(parse_greeting, "\x05\x01\x00"s, told, "none ");
  expect_value(parse_greeting, "\x05\x01\x02"s, told, "password ");
  expect_value(parse_greeting, "\x05\x02\x00\x02"s, told, "none password ");
  expect_value(parse_greeting, "\x05\x03\x02\x01\x00"s, told, "none password ");
  expect_value(parse_greeting, "\x05\x02\x01\x80"s, told, "");
  expect_value(parse_greeting, "\x05\x00"s, told, "");
  expect_value(parse_greeting, "\x05\xff"s + std::string(254, '\x80') + "\x02"s, told, "password ");
}

TEST(socks5, another_version_is_refused_at_its_first_byte) {
  for (const std::string& first : {"\x00"s, "\x04"s, "G"s, "\x16"s, "\xff"s}) {
    expect_failure(parse_greeting, first, Errc::malformed);
    expect_failure(parse_request, first, Errc::malformed);
  }
  expect_failure(parse_credentials, "\x05"s, Errc::malformed);
  expect_failure(parse_credentials, "\x00"s, Errc::malformed);
}

TEST(socks5, the_method_follows_from_whether_users_are_configured) {
  struct Case {
    Greeting greeting;
    Method open;
    Method with_users;
  };
  constexpr Case kCases[] = {
      {{true, true}, Method::none, Method::password},
      {{true, false}, Method::none, Method::unacceptable},
      {{false, true}, Method::unacceptable, Method::password},
      {{false, false}, Method::unacceptable, Method::unacceptable},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(told(c.greeting));
    EXPECT_EQ(choose_method(c.greeting, Authentication::not_needed), c.open);
    EXPECT_EQ(choose_method(c.greeting, Authentication::required), c.with_users);
  }
}

std::string told(const Credentials& credentials) {
  return credentials.user + '|' + credentials.password;
}

TEST(socks5, b118_empty_and_short_credentials_are_read) {
  expect_value(parse_credentials, "\x01\x01\x61\x00"s, told, "a|");
  expect_value(parse_credentials, "\x01\x00\x00"s, told, "|");
  expect_value(parse_credentials, "\x01\x00\x01p"s, told, "|p");
  expect_value(parse_credentials, "\x01\x01\x61\x01\x62"s, told, "a|b");
}

TEST(socks5, b112_credentials_are_read_at_any_segmentation) {
  expect_value(parse_credentials,
               "\x01\x0a"
               "0123456789"
               "\x0a"
               "abcdefghij"s,
               told, "0123456789|abcdefghij");
  const std::string longest(255, 'x');
  expect_value(parse_credentials, "\x01\xff" + longest + "\xff" + longest, told,
               longest + '|' + longest);
  expect_value(parse_credentials, "\x01\x03\"\\\n\x02\x00\xff"s, told, "\"\\\n|\x00\xff"s);
}

std::string told(const Request& request) {
  if (request.refusal) {
    return "refused " + std::string(name_of(request.refusal->what)) + ' ' +
           std::to_string(static_cast<int>(request.refusal->reply)) + " asked " + request.asked;
  }
  constexpr const char* kCommands[] = {"?", "connect", "bind", "udp_associate"};
  return kCommands[static_cast<int>(request.command)] + " "s +
         (request.target.host.is_name() ? "name " : "address ") + request.target.to_string();
}

// A request to connect to a domain, port 443.
std::string to_domain(const std::string& domain) {
  return "\x05\x01\x00\x03"s + static_cast<char>(domain.size()) + domain + "\x01\xbb"s;
}

TEST(socks5, b112_requests_are_read_at_any_segmentation) {
  struct Case {
    const char* name;
    std::string bytes;
    const char* expected;
  };
  const Case kCases[] = {
      {"IPv4 address", "\x05\x01\x00\x01\xc0\x00\x02\x07\x00\x50"s, "connect address 192.0.2.7:80"},
      {"IPv6 address", "\x05\x01\x00\x04\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01\xff\xff"s,
       "connect address [2001:db8::1]:65535"},
      {"domain", to_domain("o.example.test"), "connect name o.example.test:443"},
      {"BIND", "\x05\x02\x00\x01\xc0\x00\x02\x07\x00\x50"s, "bind address 192.0.2.7:80"},
      {"UDP ASSOCIATE from anywhere", "\x05\x03\x00\x01\0\0\0\0\0\0"s,
       "udp_associate address 0.0.0.0:0"},
      {"reserved byte set", "\x05\x01\x7f\x01\xc0\x00\x02\x07\x00\x50"s,
       "connect address 192.0.2.7:80"},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    expect_value(parse_request, c.bytes, told, c.expected);
  }
}

std::string name_of_length(size_t bytes) {
  std::string name;
  while (name.size() + 2 < bytes) name += "a.";
  return name.append(bytes - name.size(), 'b');
}

TEST(socks5, b114_names_are_consumed_exactly_whatever_their_length) {
  for (const size_t bytes : {1, 127, 128, 253}) {
    const std::string name = name_of_length(bytes);
    ASSERT_EQ(name.size(), bytes);
    expect_value(parse_request, to_domain(name), told, "connect name " + name + ":443");
  }
  for (const size_t bytes : {254, 255}) {
    const std::string name = name_of_length(bytes);
    ASSERT_EQ(name.size(), bytes);
    expect_value(parse_request, to_domain(name), told,
                 "refused name_unknown 4 asked " + name + ":443");
  }
}

TEST(socks5, b114_domains_that_are_no_names_are_unreachable_hosts) {
  for (const std::string& domain : {""s, "."s, "a..b"s, "a b"s, "\0"s, "a\0.test"s,
                                    "http://o.example.test"s, "o.example.test:443"s, "256.0.0.1"s,
                                    "[::1"s, "::1%lo"s, std::string(64, 'a'), "\xc3\xa4.test"s})
    expect_value(parse_request, to_domain(domain), told,
                 "refused name_unknown 4 asked " + domain + ":443");
}

TEST(socks5, b116_literals_sent_as_domain_are_the_addresses_that_they_reach) {
  for (const char* domain : {"127.0.0.1", "2130706433", "0x7f000001", "127.1", "0177.0.0.1"})
    expect_value(parse_request, to_domain(domain), told, "connect address 127.0.0.1:443");
  for (const char* domain : {"::1", "[::1]", "0:0:0:0:0:0:0:1"})
    expect_value(parse_request, to_domain(domain), told, "connect address [::1]:443");
}

TEST(socks5, b049_domains_lose_their_case_and_trailing_dot_but_the_log_sees_them) {
  const auto request = parse_request(as_bytes(to_domain("O.EXAMPLE.TEST.")));
  ASSERT_TRUE(request);
  EXPECT_EQ(request->target.to_string(), "o.example.test:443");
  EXPECT_EQ(request->asked, "O.EXAMPLE.TEST.:443");
}

TEST(socks5, b120_unknown_commands_and_address_types_get_their_own_replies) {
  expect_value(parse_request, "\x05\x09\x00\x01\xc0\x00\x02\x07\x00\x50"s, told,
               "refused unsupported 7 asked 192.0.2.7:80");
  expect_value(parse_request,
               "\x05\x00\x00\x03\x01"
               "a\x00\x50"s,
               told, "refused unsupported 7 asked a:80");
  expect_value(parse_request, "\x05\x01\x00\x02"s, told, "refused unsupported 8 asked ");
  expect_value(parse_request, "\x05\x01\x00\x00"s, told, "refused unsupported 8 asked ");
  expect_value(parse_request, "\x05\x09\x00\x02"s, told, "refused unsupported 7 asked ");
}

std::string reply(ReplyCode code, const IpAddress& address = {}, uint16_t port = 0) {
  std::string out;
  append_reply(out, code, address, port);
  return out;
}

TEST(socks5, b122_replies_carry_the_bound_address_in_its_own_family) {
  EXPECT_EQ(reply(ReplyCode::succeeded, *IpAddress::parse("192.0.2.7"), 0x1234),
            "\x05\x00\x00\x01\xc0\x00\x02\x07\x12\x34"s);
  EXPECT_EQ(reply(ReplyCode::succeeded, *IpAddress::parse("2001:db8::1"), 65535),
            "\x05\x00\x00\x04\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01\xff\xff"s);
  EXPECT_EQ(reply(ReplyCode::succeeded, *IpAddress::parse("::ffff:192.0.2.7"), 80),
            "\x05\x00\x00\x01\xc0\x00\x02\x07\x00\x50"s);
  EXPECT_EQ(reply(ReplyCode::not_allowed), "\x05\x02\x00\x01\0\0\0\0\0\0"s);
}

TEST(socks5, replies_to_greeting_and_credentials_are_two_bytes) {
  std::string out;
  append_method_reply(out, Method::none);
  append_method_reply(out, Method::password);
  append_method_reply(out, Method::unacceptable);
  EXPECT_EQ(out, "\x05\x00\x05\x02\x05\xff"s);
  out.clear();
  append_auth_reply(out, AuthResult::accepted);
  append_auth_reply(out, AuthResult::refused);
  EXPECT_EQ(out, "\x01\x00\x01\x01"s);
}

}  // namespace
}  // namespace headrace::socks
