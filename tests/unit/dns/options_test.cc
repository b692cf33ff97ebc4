#include "dns/options.h"

#include <gtest/gtest.h>

namespace headrace::dns {
namespace {

TEST(dns_servers, are_addresses_with_or_without_a_port) {
  const auto servers = parse_servers(
      "192.0.2.53, [2001:db8::53]:5353,2001:db8::54 , "
      "[2001:db8::55], 127.0.0.1:54");
  ASSERT_TRUE(servers);
  std::string text;
  for (const net::Endpoint& server : *servers) text += server.to_string() + " ";
  EXPECT_EQ(text,
            "192.0.2.53:53 [2001:db8::53]:5353 [2001:db8::54]:53 "
            "[2001:db8::55]:53 127.0.0.1:54 ");
}

TEST(dns_servers, anything_else_is_refused) {
  for (const char* text : {"", ",", "192.0.2.53,", "ns.example.test", "localhost:53",
                           "192.0.2.53:0", "192.0.2.53:65536", "192.0.2.53:",
                           "192.0.2.53 192.0.2.54", "[192.0.2.53]:53", "fe80::53%eth0", ":53"}) {
    EXPECT_FALSE(parse_servers(text)) << text;
  }
}

}  // namespace
}  // namespace headrace::dns
