#include "base/target.h"

#include <gtest/gtest.h>

#include <string>

namespace headrace {
namespace {

std::string host_of(std::string_view text) {
  const std::optional<Host> host = Host::parse(text);
  if (!host) return "refused";
  return (host->is_name() ? "name " : "address ") + host->to_string();
}

TEST(host, b049_names_lose_their_case_and_one_trailing_dot) {
  EXPECT_EQ(host_of("O.Example.TEST"), "name o.example.test");
  EXPECT_EQ(host_of("o.example.test."), "name o.example.test");
  EXPECT_EQ(host_of("O.EXAMPLE.TEST."), "name o.example.test");
  EXPECT_EQ(Host::parse("O.Example.Test."), Host::parse("o.example.test"));
}

TEST(host, names_of_real_life_are_names) {
  for (const char* text : {"a", "localhost", "a-b", "_dmarc.example.test", "xn--bcher-kva.test",
                           "1.2.3.4.example", "4ever", "0x7f.example", "7f", "a.0xg", "-a.test"})
    EXPECT_EQ(host_of(text), std::string("name ") + text);
}

TEST(host, b116_literals_are_addresses_however_they_are_spelled) {
  for (const char* text : {"127.0.0.1", "127.0.0.1.", "127.1", "127.1.", "2130706433", "0x7f000001",
                           "0x7f.0.0.1", "0X7F.1", "0177.0.0.1"})
    EXPECT_EQ(host_of(text), "address 127.0.0.1") << text;
  EXPECT_EQ(host_of("::1"), "address [::1]");
  EXPECT_EQ(host_of("[::1]"), "address [::1]");
  EXPECT_EQ(host_of("[::FFFF:127.0.0.1]"), "address [::ffff:127.0.0.1]");
}

TEST(host, b116_numbers_that_are_no_address_never_become_names) {
  for (const char* text : {"256.0.0.1", "1.2.3.4.5", "127.0.0.09", "4294967296", "0x100000000",
                           "example.1", "example.0x", "a.0x7f", "1.2.3.4.5."})
    EXPECT_EQ(host_of(text), "refused") << text;
}

TEST(host, what_is_neither_name_nor_literal_is_refused) {
  for (const std::string_view text : {"",
                                      ".",
                                      "..",
                                      "a..b",
                                      ".a",
                                      "a..",
                                      "a b",
                                      "a\n",
                                      "a/b",
                                      "a@b",
                                      "a:b",
                                      "u:p",
                                      "\xc3\xa4.test",
                                      "a%2eb",
                                      "*",
                                      "*.example.test",
                                      "[]",
                                      "[",
                                      "]",
                                      "[::1",
                                      "::1]",
                                      "[[::1]]",
                                      "[127.0.0.1]",
                                      "[o.example.test]",
                                      "[::1%25lo]",
                                      "fe80::1%lo",
                                      ":",
                                      "::1::",
                                      "[v1.a]"})
    EXPECT_EQ(host_of(text), "refused") << text;
  EXPECT_EQ(host_of(std::string_view("a\0b", 3)), "refused");
  EXPECT_EQ(host_of(std::string_view("127.0.0.1\0", 10)), "refused");
}

std::string name_of_length(size_t bytes) {
  std::string name;
  while (bytes > 63) {
    name += std::string(62, 'a') + '.';
    bytes -= 63;
  }
  return name + std::string(bytes, 'b');
}

TEST(host, b114_names_reach_to_253_bytes_and_labels_to_63) {
  for (const size_t bytes : {1, 63, 127, 128, 253}) {
    const std::string name = name_of_length(bytes);
    ASSERT_EQ(name.size(), bytes);
    EXPECT_EQ(host_of(name), "name " + name);
    EXPECT_EQ(host_of(name + '.'), "name " + name);
  }
  EXPECT_EQ(host_of(name_of_length(254)), "refused");
  EXPECT_EQ(host_of(name_of_length(255)), "refused");
  EXPECT_EQ(host_of(std::string(63, 'a') + ".test"), "name " + std::string(63, 'a') + ".test");
  EXPECT_EQ(host_of(std::string(64, 'a')), "refused");
  EXPECT_EQ(host_of(std::string(64, 'a') + ".test"), "refused");
}

std::string target_of(std::string_view text) {
  const std::optional<Target> target = Target::parse(text);
  return target ? target->to_string() : "refused";
}

TEST(target, b031_only_brackets_tell_where_the_port_of_an_ipv6_literal_begins) {
  EXPECT_EQ(target_of("[::1]:443"), "[::1]:443");
  for (const char* text : {"::1:443", "[::1]", "[::1:443", "[::1]443", "[o.example.test]:443",
                           "[::1%25lo]:443", "::1]:443", "[]:443", "[127.0.0.1]:443"})
    EXPECT_EQ(target_of(text), "refused") << text;
}

TEST(target, b035_ports_are_decimal_digits_from_1_to_65535) {
  EXPECT_EQ(target_of("o.example.test:1"), "o.example.test:1");
  EXPECT_EQ(target_of("o.example.test:65535"), "o.example.test:65535");
  EXPECT_EQ(target_of("o.example.test:00000443"), "o.example.test:443");
  for (const char* port : {"65536", "65979", "4294967739", "18446744073709552059", "0", "00", "-1",
                           "443x", "+443", " 443", "443 ", "", "0x1bb", "4.3"})
    EXPECT_EQ(target_of(std::string("o.example.test:") + port), "refused") << port;
}

TEST(target, b037_wrong_forms_are_refused) {
  for (const char* text : {"http://o.example.test:443", "u:p@o.example.test:443", "o.example.test",
                           "o.example.test:443/x", "/", "*", "", ":443", "user@o.example.test:443"})
    EXPECT_EQ(target_of(text), "refused") << text;
}

TEST(target, b049_case_and_trailing_dot_make_no_difference) {
  EXPECT_EQ(Target::parse("O.Example.Test.:443"), Target::parse("o.example.test:443"));
}

}  // namespace
}  // namespace headrace
