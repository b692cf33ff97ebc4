#include "access/open_proxy.h"

#include <gtest/gtest.h>

#include <vector>

#include "addresses.h"

namespace headrace::access {
namespace {

bool may_start(std::string_view address, const Options& options) {
  const std::vector<Listener> listeners = {{ip("127.0.0.1"), 1080}, {ip(address), 3128}};
  return !open_proxy_fault(listeners, options);
}

TEST(open_proxy, loopback_may_be_open) {
  for (const char* text : {"127.0.0.1", "127.0.0.5", "::1", "::ffff:127.0.0.1"})
    EXPECT_TRUE(may_start(text, Options())) << text;
  EXPECT_FALSE(open_proxy_fault({}, Options()));
}

TEST(open_proxy, anything_else_needs_a_decision) {
  for (const char* text : {"0.0.0.0", "::", "192.168.1.1", "192.0.2.10", "fd00::1", "169.254.1.1"})
    EXPECT_FALSE(may_start(text, Options())) << text;
}

TEST(open_proxy, each_of_the_three_decisions_is_enough) {
  Options with_users;
  ASSERT_EQ(with_users.users.add("alice", "secret"), std::nullopt);
  Options with_allow;
  with_allow.allow = {network("192.0.2.0/24")};
  Options opened;
  opened.open = true;
  for (const Options& options : {with_users, with_allow, opened})
    EXPECT_TRUE(may_start("0.0.0.0", options));

  Options private_only;
  private_only.allow_private = true;
  EXPECT_FALSE(may_start("0.0.0.0", private_only));
}

TEST(open_proxy, the_fault_says_which_listener_and_what_to_add) {
  const std::vector<Listener> listeners = {{ip("127.0.0.1"), 1080}, {ip("::"), 3128}};
  EXPECT_EQ(open_proxy_fault(listeners, Options()),
            "listening on [::]:3128 would let anyone who can reach it use this proxy; add --allow "
            "CIDR (which clients), --user NAME:PASSWORD (which people), or --open (everyone)");
}

TEST(open_proxy, where_nobody_can_be_asked_users_are_no_decision) {
  Options with_users;
  ASSERT_EQ(with_users.users.add("alice", "secret"), std::nullopt);
  const std::vector<Listener> listeners = {{ip("::"), 443}};
  const Exposure exposure{.asks_for_users = false};
  EXPECT_EQ(open_proxy_fault(listeners, with_users, exposure),
            "listening on [::]:443 would let anyone who can reach it use this proxy; add --allow "
            "CIDR (which clients), or --open (everyone)");
}

TEST(open_proxy, behind_a_proxy_loopback_and_unix_sockets_need_a_decision) {
  const std::vector<Listener> loopback = {{ip("127.0.0.1"), 3128}};
  const Exposure exposure{.behind_a_proxy = true};
  const std::string fault =
      "accept_proxy_protocol would let anyone who can reach the proxy in front use this one; add "
      "--allow CIDR (which clients), --user NAME:PASSWORD (which people), or --open (everyone)";
  EXPECT_EQ(open_proxy_fault(loopback, Options(), exposure), fault);
  EXPECT_EQ(open_proxy_fault({}, Options(), exposure), fault);
  Options opened;
  opened.open = true;
  EXPECT_EQ(open_proxy_fault(loopback, opened, exposure), std::nullopt);
}

}  // namespace
}  // namespace headrace::access
