#include "access/own_listeners.h"

#include <gtest/gtest.h>

#include "addresses.h"

namespace headrace::access {
namespace {

OwnListeners listening_on(std::string_view address) {
  return OwnListeners({{ip(address), 3128}}, {ip("192.0.2.10"), ip("2001:db8::10")});
}

TEST(own_listeners, b146_the_own_address_and_port_are_own) {
  const OwnListeners own = listening_on("127.0.0.1");
  EXPECT_TRUE(own.is_own(ip("127.0.0.1"), 3128));
  EXPECT_FALSE(own.is_own(ip("127.0.0.1"), 3129));
  EXPECT_FALSE(own.is_own(ip("127.0.0.2"), 3128));
  EXPECT_FALSE(own.is_own(ip("192.0.2.10"), 3128));
  EXPECT_FALSE(OwnListeners().is_own(ip("127.0.0.1"), 3128));
}

TEST(own_listeners, b146_every_spelling_of_the_own_address_is_own) {
  const OwnListeners own = listening_on("127.0.0.1");
  for (const char* text : {"0.0.0.0", "::ffff:127.0.0.1", "::ffff:0.0.0.0", "64:ff9b::7f00:1"})
    EXPECT_TRUE(own.is_own(ip(text), 3128)) << text;
  EXPECT_TRUE(listening_on("::1").is_own(ip("::"), 3128));
  EXPECT_TRUE(listening_on("::ffff:127.0.0.1").is_own(ip("127.0.0.1"), 3128));
}

TEST(own_listeners, b146_a_wildcard_answers_on_every_address_of_the_host) {
  const OwnListeners all = listening_on("::");
  for (const char* text : {"127.0.0.1", "127.7.7.7", "::1", "0.0.0.0", "::", "192.0.2.10",
                           "2001:db8::10", "::ffff:192.0.2.10"})
    EXPECT_TRUE(all.is_own(ip(text), 3128)) << text;
  for (const char* text : {"192.0.2.11", "2001:db8::11", "198.51.100.1"})
    EXPECT_FALSE(all.is_own(ip(text), 3128)) << text;
  EXPECT_FALSE(all.is_own(ip("192.0.2.10"), 80));
}

TEST(own_listeners, an_ipv4_wildcard_leaves_ipv6_to_others) {
  const OwnListeners v4 = listening_on("0.0.0.0");
  EXPECT_TRUE(v4.is_own(ip("192.0.2.10"), 3128));
  EXPECT_FALSE(v4.is_own(ip("::1"), 3128));
  EXPECT_FALSE(v4.is_own(ip("2001:db8::10"), 3128));
}

}  // namespace
}  // namespace headrace::access
