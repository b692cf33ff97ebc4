#include "socket.h"

#include <gtest/gtest.h>

namespace headrace::load {
namespace {

TEST(Address, numeric_addresses_are_read_and_written_alike) {
  for (const char* text : {"127.0.0.1:80", "[::1]:443", "[fe80::1:2]:0", "10.0.0.255:65535"}) {
    const std::optional<Address> address = parse_address(text);
    ASSERT_TRUE(address) << text;
    EXPECT_EQ(address->text(), text);
  }
  for (const char* bad :
       {"", "localhost:80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", ":80"}) {
    EXPECT_FALSE(parse_address(bad)) << bad;
  }
}

TEST(SourceRange, gives_each_address_in_turn_over_the_bounds_of_bytes) {
  std::optional<SourceRange> range = SourceRange::parse("10.0.0.254-10.0.1.1");
  ASSERT_TRUE(range);
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(range->next().text(), "10.0.0.254:0");
    EXPECT_EQ(range->next().text(), "10.0.0.255:0");
    EXPECT_EQ(range->next().text(), "10.0.1.0:0");
    EXPECT_EQ(range->next().text(), "10.0.1.1:0");
  }
}

TEST(SourceRange, takes_single_and_ipv6_addresses_and_refuses_what_is_no_range) {
  std::optional<SourceRange> one = SourceRange::parse("::1");
  ASSERT_TRUE(one);
  EXPECT_EQ(one->next().text(), "[::1]:0");
  EXPECT_EQ(one->next().text(), "[::1]:0");
  EXPECT_TRUE(SourceRange::parse("fd00::ffff-fd00::1:1"));
  EXPECT_FALSE(SourceRange::parse("10.0.0.2-10.0.0.1"));
  EXPECT_FALSE(SourceRange::parse("10.0.0.1-::1"));
  EXPECT_FALSE(SourceRange::parse("a-b"));
}

}  // namespace
}  // namespace headrace::load
