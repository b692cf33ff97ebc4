#include "base/ip.h"

#include <gtest/gtest.h>

#include <string>

namespace headrace {
namespace {

IpAddress ip(std::string_view text) {
  const std::optional<IpAddress> address = IpAddress::parse(text);
  EXPECT_TRUE(address) << text;
  return address.value_or(IpAddress());
}

TEST(ip_address, standard_spellings_are_read_and_written_back) {
  for (const char* text : {"0.0.0.0", "127.0.0.1", "255.255.255.255", "192.0.2.7", "::", "::1",
                           "2001:db8::1", "fe80::1", "::ffff:192.0.2.7", "2001:db8:1:2:3:4:5:6"})
    EXPECT_EQ(ip(text).to_string(), text);
  EXPECT_EQ(ip("2001:DB8:0:0:0:0:0:1").to_string(), "2001:db8::1");
}

TEST(ip_address, anything_but_a_standard_spelling_is_no_address) {
  for (const std::string_view text : {"",           "127.1",      "127.0.0.01",    "0177.0.0.1",
                                      "0x7f.0.0.1", "2130706433", "1.2.3",         "1.2.3.4.5",
                                      "256.0.0.1",  "1.2.3.4 ",   " 1.2.3.4",      "1.2.3.4.",
                                      "::1%lo",     "[::1]",      ":::",           "1::2::3",
                                      "12345::",    "::1.2.3",    "1:2:3:4:5:6:7", "localhost"})
    EXPECT_FALSE(IpAddress::parse(text)) << text;
  EXPECT_FALSE(IpAddress::parse(std::string_view("127.0.0.1\0.example", 18)));
  EXPECT_FALSE(IpAddress::parse(std::string(4096, '1')));
}

TEST(ip_address, b148_every_spelling_of_inet_aton_is_the_address_that_it_reaches) {
  for (const char* text :
       {"127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0X7F.0.0.1", "0177.0.0.1",
        "0177.1", "017700000001", "0x7f.0x1", "127.0x0.00.1", "000177.0.0.01"}) {
    const std::optional<IpAddress> address = IpAddress::parse_any_spelling(text);
    ASSERT_TRUE(address) << text;
    EXPECT_EQ(address->to_string(), "127.0.0.1") << text;
  }
  EXPECT_EQ(IpAddress::parse_any_spelling("0"), ip("0.0.0.0"));
  EXPECT_EQ(IpAddress::parse_any_spelling("4294967295"), ip("255.255.255.255"));
  EXPECT_EQ(IpAddress::parse_any_spelling("1.16777215"), ip("1.255.255.255"));
  EXPECT_EQ(IpAddress::parse_any_spelling("::1"), ip("::1"));
}

TEST(ip_address, what_inet_aton_refuses_is_refused) {
  for (const char* text : {"",
                           ".",
                           "1.",
                           ".1",
                           "1..1",
                           "256.1",
                           "1.2.3.256",
                           "1.16777216",
                           "1.2.65536",
                           "4294967296",
                           "0x",
                           "0x1ffffffff",
                           "08",
                           "127.0.0.09",
                           "0x7g",
                           "-1",
                           "+1",
                           "1.-1",
                           "1 ",
                           "1.2.3.4.5",
                           "1.2.3.0x100",
                           "0x 1",
                           "99999999999999999999"})
    EXPECT_FALSE(IpAddress::parse_any_spelling(text)) << text;
}

TEST(ip_address, b148_wrapped_forms_are_unwrapped) {
  struct Case {
    const char* wrapped;
    const char* meant;
  };
  constexpr Case kCases[] = {
      {"::ffff:127.0.0.1", "127.0.0.1"},
      {"::ffff:a9fe:a9fe", "169.254.169.254"},
      {"::127.0.0.1", "127.0.0.1"},
      {"::ffff:0:10.0.0.1", "10.0.0.1"},
      {"64:ff9b::7f00:1", "127.0.0.1"},
      {"64:ff9b::a00:1", "10.0.0.1"},
      {"2002:7f00:1::", "127.0.0.1"},
      {"2002:a00:1:2:3:4:5:6", "10.0.0.1"},
      {"::", "::"},
      {"::1", "::1"},
      {"2001:db8::7f00:1", "2001:db8::7f00:1"},
      {"64:ff9b:1::7f00:1", "64:ff9b:1::7f00:1"},
      {"192.0.2.1", "192.0.2.1"},
      {"::2", "0.0.0.2"},
  };
  for (const Case& c : kCases) EXPECT_EQ(ip(c.wrapped).unwrapped().to_string(), c.meant);
}

TEST(ip_address, only_the_mapped_form_is_unmapped) {
  EXPECT_EQ(ip("::ffff:192.0.2.1").unmapped(), ip("192.0.2.1"));
  for (const char* text : {"::192.0.2.1", "64:ff9b::1.2.3.4", "2002:102:304::", "::1", "1.2.3.4"})
    EXPECT_EQ(ip(text).unmapped(), ip(text));
}

// The first and last address of each range, and the neighbours outside.
TEST(ip_address, ranges_end_where_their_rfcs_say) {
  struct Case {
    const char* text;
    const char* kind;
  };
  constexpr Case kCases[] = {
      {"126.255.255.255", ""},
      {"127.0.0.0", "loopback"},
      {"127.255.255.255", "loopback"},
      {"128.0.0.0", ""},
      {"::1", "loopback"},
      {"::2", ""},
      {"0.0.0.0", "unspecified"},
      {"0.255.255.255", "unspecified"},
      {"1.0.0.0", ""},
      {"::", "unspecified"},
      {"169.253.255.255", ""},
      {"169.254.0.0", "link-local"},
      {"169.254.255.255", "link-local"},
      {"169.255.0.0", ""},
      {"fe7f:ffff::", ""},
      {"fe80::", "link-local"},
      {"febf:ffff::", "link-local"},
      {"223.255.255.255", ""},
      {"224.0.0.0", "multicast"},
      {"239.255.255.255", "multicast"},
      {"240.0.0.0", ""},
      {"255.255.255.254", ""},
      {"255.255.255.255", "multicast"},
      {"ff00::", "multicast"},
      {"9.255.255.255", ""},
      {"10.0.0.0", "private"},
      {"10.255.255.255", "private"},
      {"11.0.0.0", ""},
      {"172.15.255.255", ""},
      {"172.16.0.0", "private"},
      {"172.31.255.255", "private"},
      {"172.32.0.0", ""},
      {"192.167.255.255", ""},
      {"192.168.0.0", "private"},
      {"192.168.255.255", "private"},
      {"192.169.0.0", ""},
      {"100.63.255.255", ""},
      {"100.64.0.0", "private"},
      {"100.127.255.255", "private"},
      {"100.128.0.0", ""},
      {"fbff:ffff::", ""},
      {"fc00::", "private"},
      {"fdff:ffff::", "private"},
      {"fe00::", ""},
      {"fec0::", "private"},
      {"feff:ffff::", "private"},
      {"64:ff9b:1::", "private"},
      {"64:ff9b:1:ffff::", "private"},
      {"64:ff9b:2::", ""},
      {"2001:db8::1", ""},
  };
  for (const Case& c : kCases) {
    const IpAddress address = ip(c.text);
    std::string kind;
    if (address.is_loopback()) kind += "loopback";
    if (address.is_unspecified()) kind += "unspecified";
    if (address.is_link_local()) kind += "link-local";
    if (address.is_multicast()) kind += "multicast";
    if (address.is_private()) kind += "private";
    EXPECT_EQ(kind, c.kind) << c.text;
  }
}

bool holds(std::string_view network, std::string_view address) {
  const std::optional<IpNetwork> parsed = IpNetwork::parse(network);
  EXPECT_TRUE(parsed) << network;
  return parsed && parsed->contains(ip(address));
}

TEST(ip_network, b150_prefixes_end_at_the_bit) {
  EXPECT_TRUE(holds("0.0.0.0/0", "203.0.113.9"));
  EXPECT_TRUE(holds("128.0.0.0/1", "128.0.0.1"));
  EXPECT_FALSE(holds("128.0.0.0/1", "127.255.255.255"));
  EXPECT_TRUE(holds("192.0.2.128/25", "192.0.2.255"));
  EXPECT_FALSE(holds("192.0.2.128/25", "192.0.2.127"));
  EXPECT_TRUE(holds("192.0.2.4/31", "192.0.2.5"));
  EXPECT_FALSE(holds("192.0.2.4/31", "192.0.2.6"));
  EXPECT_TRUE(holds("192.0.2.4", "192.0.2.4"));
  EXPECT_FALSE(holds("192.0.2.4", "192.0.2.5"));
  EXPECT_TRUE(holds("2001:db8::/33", "2001:db8:7fff::"));
  EXPECT_FALSE(holds("2001:db8::/33", "2001:db8:8000::"));
  EXPECT_TRUE(holds("2001:db8::2/127", "2001:db8::3"));
  EXPECT_FALSE(holds("2001:db8::2/127", "2001:db8::4"));
  EXPECT_TRUE(holds("::1", "::1"));
  EXPECT_FALSE(holds("::1", "::"));
}

TEST(ip_network, b150_a_mapped_address_is_matched_as_ipv4) {
  EXPECT_TRUE(holds("127.0.0.1", "::ffff:127.0.0.1"));
  EXPECT_FALSE(holds("127.0.0.1", "::ffff:127.0.0.2"));
  EXPECT_TRUE(holds("0.0.0.0/0", "::ffff:203.0.113.9"));
  EXPECT_FALSE(holds("::/0", "::ffff:203.0.113.9"));
  EXPECT_FALSE(holds("::/0", "203.0.113.9"));
  EXPECT_FALSE(holds("0.0.0.0/0", "2001:db8::1"));
  EXPECT_TRUE(holds("::ffff:10.0.0.0/104", "10.1.2.3"));
  EXPECT_TRUE(holds("::ffff:0:0/96", "203.0.113.9"));
  EXPECT_EQ(IpNetwork::parse("::ffff:10.0.0.0/104")->to_string(), "10.0.0.0/8");
}

TEST(ip_network, b150_malformed_networks_are_refused) {
  for (const char* text :
       {"", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/ 8",
        "10.0.0.0/8 ", "10.0.0.0/8/8", "10.0.0.1/8", "192.0.2.1/31", "::/129", "2001:db8::1/64",
        "10.0.0.0/4294967304", "10/8", "010.0.0.0/8", "example.test/8", "[::]/0"})
    EXPECT_FALSE(IpNetwork::parse(text)) << text;
}

}  // namespace
}  // namespace headrace
