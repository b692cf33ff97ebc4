#include "socks/socks4.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "parse_cuts.h"

namespace headrace::socks {
namespace {

using namespace std::string_literals;

std::string told(const Request4& request) {
  if (request.refusal)
    return "refused " + std::string(name_of(*request.refusal)) + " asked " + request.asked;
  return (request.command == Command::bind ? "bind " : "connect ") +
         std::string(request.target.host.is_name() ? "name " : "address ") +
         request.target.to_string() + " user " + request.user_id;
}

// Head of a request to connect to port 80 of an address, as four bytes.
std::string head_to(const std::string& address) {
  return "\x04\x01\x00\x50"s + address;
}
std::string to_name(const std::string& name) {
  return head_to("\0\0\0\x01"s) + "me\0"s + name + '\0';
}

TEST(socks4, b112_requests_are_read_at_any_segmentation) {
  expect_value(parse_request4, head_to("\xc0\x00\x02\x07"s) + "\0"s, told,
               "connect address 192.0.2.7:80 user ");
  expect_value(parse_request4, head_to("\xc0\x00\x02\x07"s) + "alice\0"s, told,
               "connect address 192.0.2.7:80 user alice");
  expect_value(parse_request4, "\x04\x02\xff\xff\xc0\x00\x02\x07\0"s, told,
               "bind address 192.0.2.7:65535 user ");
}

TEST(socks4, b124_the_address_0_0_0_x_announces_a_name) {
  expect_value(parse_request4, head_to("\0\0\0\x01"s) + "\0o.example.test\0"s, told,
               "connect name o.example.test:80 user ");
  expect_value(parse_request4, head_to("\0\0\0\xff"s) + "me\0o.example.test\0"s, told,
               "connect name o.example.test:80 user me");
}

TEST(socks4, b124_the_address_0_0_0_0_is_no_name_and_no_destination) {
  expect_value(parse_request4, head_to("\0\0\0\0"s) + "me\0"s, told,
               "refused malformed asked 0.0.0.0:80");
}

TEST(socks4, b124_addresses_beside_0_0_0_x_announce_no_name) {
  expect_value(parse_request4, head_to("\0\0\x01\x01"s) + "\0"s, told,
               "connect address 0.0.1.1:80 user ");
  expect_value(parse_request4, head_to("\x01\0\0\x01"s) + "\0"s, told,
               "connect address 1.0.0.1:80 user ");
}

TEST(socks4, b124_unknown_commands_are_refused_after_their_last_byte) {
  expect_value(parse_request4, "\x04\x03\x00\x50\xc0\x00\x02\x07me\0"s, told,
               "refused unsupported asked 192.0.2.7:80");
  expect_value(parse_request4, "\x04\x00\x00\x50\0\0\0\x01me\0o.example.test\0"s, told,
               "refused unsupported asked o.example.test:80");
}

TEST(socks4, b116_literals_sent_as_name_are_the_addresses_that_they_reach) {
  for (const char* name : {"127.0.0.1", "2130706433", "0x7f000001", "127.1"})
    expect_value(parse_request4, to_name(name), told, "connect address 127.0.0.1:80 user me");
  for (const char* name : {"::1", "[::1]"})
    expect_value(parse_request4, to_name(name), told, "connect address [::1]:80 user me");
}

TEST(socks4, b114_what_is_no_name_is_refused_and_consumed_exactly) {
  for (const std::string& name : {""s, "a..b"s, "a\nb"s, "256.0.0.1"s, std::string(64, 'a'),
                                  std::string(kName4BytesMax, 'a')})
    expect_value(parse_request4, to_name(name), told, "refused name_unknown asked " + name + ":80");
}

TEST(socks4, strings_beyond_their_limit_fail_without_waiting_for_their_end) {
  const std::string head = head_to("\xc0\x00\x02\x07"s);
  const std::string longest(kUserIdBytesMax, 'u');
  expect_value(parse_request4, head + longest + '\0', told,
               "connect address 192.0.2.7:80 user " + longest);
  expect_failure(parse_request4, head + longest + 'u', Errc::too_large);

  const std::string name_head = head_to("\0\0\0\x01"s) + "me\0"s;
  expect_failure(parse_request4, name_head + std::string(kName4BytesMax + 1, 'n'), Errc::too_large);
}

TEST(socks4, another_version_is_refused_at_its_first_byte) {
  for (const std::string& first : {"\x00"s, "\x05"s, "G"s, "\x84"s})
    expect_failure(parse_request4, first, Errc::malformed);
}

std::string reply4(ReplyCode4 code, const IpAddress& address = {}, uint16_t port = 0) {
  std::string out;
  append_reply4(out, code, address, port);
  return out;
}

TEST(socks4, b124_replies_are_eight_bytes_and_begin_with_zero) {
  EXPECT_EQ(reply4(ReplyCode4::rejected), "\x00\x5b\0\0\0\0\0\0"s);
  EXPECT_EQ(reply4(ReplyCode4::granted, *IpAddress::parse("192.0.2.7"), 0x1234),
            "\x00\x5a\x12\x34\xc0\x00\x02\x07"s);
  EXPECT_EQ(reply4(ReplyCode4::granted, *IpAddress::parse("::ffff:192.0.2.7"), 80),
            "\x00\x5a\x00\x50\xc0\x00\x02\x07"s);
  EXPECT_EQ(reply4(ReplyCode4::granted, *IpAddress::parse("2001:db8::1"), 80),
            "\x00\x5a\x00\x50\0\0\0\0"s);
}

}  // namespace
}  // namespace headrace::socks
