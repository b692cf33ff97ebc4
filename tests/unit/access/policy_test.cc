#include "access/policy.h"

#include <gtest/gtest.h>

#include <string>

#include "addresses.h"

namespace headrace::access {
namespace {

const Client kOutsider{*IpAddress::parse("203.0.113.9")};
const Client kLocal{*IpAddress::parse("127.0.0.1")};
const Client kByUnixSocket{};

Policy policy_of(Options options) {
  return Policy(std::move(options), OwnListeners({{ip("127.0.0.1"), 3128}}, {}));
}

// The verdict in words: "allowed" or the reason.
std::string verdict(const Policy& policy, const Client& client, std::string_view to,
                    std::string_view address = {}, How how = How::forward) {
  const std::optional<Target> target = Target::parse(to);
  EXPECT_TRUE(target) << to;
  if (!target) return "no target";
  Request request{client, {}, how, *target};
  if (!address.empty()) request.address = ip(address);
  const Verdict judged = policy.judge(request);
  return judged.allowed() ? "allowed" : std::string(name_of(*judged.refusal));
}

TEST(policy, b148_no_spelling_of_an_inside_address_escapes_by_literal) {
  const Policy policy = policy_of({});
  for (const char* to : {"127.0.0.1:80",
                         "127.1:80",
                         "2130706433:80",
                         "0x7f.0.0.1:80",
                         "0177.0.0.1:80",
                         "127.0.0.1.:80",
                         "0.0.0.0:80",
                         "0:80",
                         "[::]:80",
                         "[::1]:80",
                         "[::ffff:127.0.0.1]:80",
                         "[::ffff:a9fe:a9fe]:80",
                         "[64:ff9b::7f00:1]:80",
                         "[2002:7f00:1::]:80",
                         "169.254.169.254:80",
                         "0xa9fea9fe:80",
                         "10.0.0.1:80",
                         "012.0.0.1:80",
                         "[fd00::1]:80",
                         "224.0.0.1:80"}) {
    for (const How how : {How::forward, How::socks})
      EXPECT_EQ(verdict(policy, kOutsider, to, {}, how), "inside_denied") << to;
  }
  EXPECT_EQ(verdict(policy, kOutsider, "127.1:443", {}, How::connect), "inside_denied");
}

TEST(policy, b148_a_name_is_judged_by_the_address_that_is_dialled) {
  const Policy policy = policy_of({});
  EXPECT_EQ(verdict(policy, kOutsider, "o.example.test:80"), "allowed");
  EXPECT_EQ(verdict(policy, kOutsider, "o.example.test:80", "192.0.2.1"), "allowed");
  for (const char* address : {"127.0.0.1", "::1", "169.254.169.254", "10.0.0.1", "::ffff:127.0.0.1",
                              "64:ff9b::7f00:1", "0.0.0.0"})
    EXPECT_EQ(verdict(policy, kOutsider, "o.example.test:80", address), "inside_denied") << address;
}

TEST(policy, b049_case_and_trailing_dot_of_a_name_change_no_verdict) {
  const Policy policy = policy_of({});
  for (const char* to : {"o.example.test:22", "O.EXAMPLE.TEST:22", "o.example.test.:22"}) {
    EXPECT_EQ(verdict(policy, kOutsider, to, "192.0.2.1", How::connect), "port_denied") << to;
    EXPECT_EQ(verdict(policy, kOutsider, to, "127.0.0.1"), "inside_denied") << to;
  }
}

TEST(policy, allow_private_opens_private_ranges_and_nothing_else) {
  Options options;
  options.allow_private = true;
  const Policy policy = policy_of(options);
  for (const char* to :
       {"10.0.0.1:80", "192.168.1.1:80", "100.64.0.1:80", "[fd00::1]:80", "[::ffff:10.0.0.1]:80"})
    EXPECT_EQ(verdict(policy, kOutsider, to), "allowed") << to;
  for (const char* to : {"127.0.0.1:80", "169.254.169.254:80", "0.0.0.0:80", "[::1]:80",
                         "[fe80::1]:80", "224.0.0.1:80", "[64:ff9b::7f00:1]:80"})
    EXPECT_EQ(verdict(policy, kOutsider, to), "inside_denied") << to;
}

TEST(policy, clients_on_this_host_reach_its_inside) {
  const Policy policy = policy_of({});
  const Client mapped{ip("::ffff:127.0.0.1")};
  for (const Client& client : {kLocal, mapped, kByUnixSocket, Client{ip("::1")}}) {
    for (const char* to :
         {"127.0.0.1:80", "0.0.0.0:80", "[::]:80", "10.0.0.1:80", "169.254.1.1:80"})
      EXPECT_EQ(verdict(policy, client, to), "allowed") << to;
  }
}

// A source address can be forged or translated; only what the kernel itself calls loopback counts.
TEST(policy, b148_a_client_that_merely_wraps_loopback_is_no_client_on_this_host) {
  const Policy policy = policy_of({});
  for (const char* client : {"2002:7f00:1::", "64:ff9b::7f00:1", "::127.0.0.1", "0.0.0.0"})
    EXPECT_EQ(verdict(policy, Client{ip(client)}, "127.0.0.1:80"), "inside_denied") << client;
}

TEST(policy, b146_the_own_listener_is_closed_to_everyone) {
  const Policy policy = policy_of({});
  for (const Client& client : {kLocal, kByUnixSocket, kOutsider}) {
    for (const char* to : {"127.0.0.1:3128", "127.1:3128", "0.0.0.0:3128", "[::ffff:7f00:1]:3128"})
      EXPECT_EQ(verdict(policy, client, to), "loop") << to;
    EXPECT_EQ(verdict(policy, client, "o.example.test:3128", "127.0.0.1"), "loop");
  }
  EXPECT_EQ(verdict(policy, kLocal, "127.0.0.1:3129"), "allowed");
}

TEST(policy, connect_goes_to_connect_ports_alone) {
  const Policy policy = policy_of({});
  EXPECT_EQ(verdict(policy, kOutsider, "o.example.test:443", {}, How::connect), "allowed");
  EXPECT_EQ(verdict(policy, kOutsider, "o.example.test:8080", {}, How::connect), "allowed");
  for (const char* to : {"o.example.test:25", "o.example.test:80", "o.example.test:22"}) {
    EXPECT_EQ(verdict(policy, kOutsider, to, {}, How::connect), "port_denied") << to;
    EXPECT_EQ(verdict(policy, kLocal, to, {}, How::connect), "port_denied") << to;
    EXPECT_EQ(verdict(policy, kOutsider, to, {}, How::socks), "allowed") << to;
    EXPECT_EQ(verdict(policy, kOutsider, to, {}, How::forward), "allowed") << to;
  }
  Options any;
  any.connect_ports = PortSet::any();
  EXPECT_EQ(verdict(policy_of(any), kOutsider, "o.example.test:25", {}, How::connect), "allowed");
}

TEST(policy, port_zero_is_nowhere) {
  Options any;
  any.connect_ports = PortSet::any();
  const Policy policy = policy_of(any);
  const Target target{*Host::parse("o.example.test"), 0};
  for (const How how : {How::forward, How::connect, How::socks})
    EXPECT_EQ(policy.judge({kLocal, {}, how, target}).refusal, Errc::port_denied);
}

TEST(policy, b150_clients_are_matched_in_their_own_family) {
  Options options;
  options.allow = {network("127.0.0.1"), network("::1"), network("192.0.2.0/25"),
                   network("2001:db8::2/127")};
  const Policy policy = policy_of(options);
  const auto may_connect = [&](std::string_view text) {
    return policy.may_client_connect({ip(text)});
  };
  // In turn, so that nothing of one family could be left over for the other.
  for (int round = 0; round < 3; ++round) {
    for (const char* text :
         {"127.0.0.1", "::1", "::ffff:127.0.0.1", "192.0.2.127", "::ffff:192.0.2.1", "2001:db8::3"})
      EXPECT_TRUE(may_connect(text)) << text;
    for (const char* text : {"127.0.0.2", "::2", "::ffff:127.0.0.2", "::127.0.0.1", "192.0.2.128",
                             "2001:db8::4", "64:ff9b::7f00:1"})
      EXPECT_FALSE(may_connect(text)) << text;
  }
  EXPECT_TRUE(policy.may_client_connect(kByUnixSocket));
}

TEST(policy, b150_the_widest_networks_hold_their_family_alone) {
  Options only_v4;
  only_v4.allow = {network("0.0.0.0/0")};
  EXPECT_TRUE(policy_of(only_v4).may_client_connect({ip("203.0.113.9")}));
  EXPECT_TRUE(policy_of(only_v4).may_client_connect({ip("::ffff:203.0.113.9")}));
  EXPECT_FALSE(policy_of(only_v4).may_client_connect({ip("2001:db8::1")}));
  Options only_v6;
  only_v6.allow = {network("::/0")};
  EXPECT_TRUE(policy_of(only_v6).may_client_connect({ip("2001:db8::1")}));
  EXPECT_FALSE(policy_of(only_v6).may_client_connect({ip("::ffff:203.0.113.9")}));
}

TEST(policy, without_allow_every_client_may_connect) {
  EXPECT_TRUE(policy_of({}).may_client_connect(kOutsider));
  EXPECT_TRUE(policy_of({}).may_client_connect(kLocal));
}

TEST(policy, allow_and_users_must_both_hold) {
  Options options;
  options.allow = {network("203.0.113.0/24")};
  ASSERT_EQ(options.users.add("alice", "secret"), std::nullopt);
  const Policy policy = policy_of(options);
  EXPECT_TRUE(policy.needs_credentials());
  EXPECT_TRUE(policy.knows("alice", "secret"));
  EXPECT_FALSE(policy.knows("alice", "Secret"));

  const Target target = *Target::parse("o.example.test:443");
  const Client elsewhere{ip("198.51.100.1")};
  const auto judged = [&](const Client& client, std::string_view user) {
    return policy.judge({client, user, How::connect, target}).refusal;
  };
  EXPECT_EQ(judged(kOutsider, "alice"), std::nullopt);
  EXPECT_EQ(judged(kOutsider, ""), Errc::unauthorized);
  EXPECT_EQ(judged(elsewhere, "alice"), Errc::client_denied);
  EXPECT_EQ(judged(elsewhere, ""), Errc::client_denied);
}

TEST(policy, sni_goes_where_connect_may_go) {
  const Policy policy = policy_of({});
  for (const How how : {How::connect, How::sni}) {
    EXPECT_EQ(verdict(policy, kOutsider, "o.example.test:443", {}, how), "allowed");
    EXPECT_EQ(verdict(policy, kOutsider, "o.example.test:25", {}, how), "port_denied");
    EXPECT_EQ(verdict(policy, kOutsider, "o.example.test:443", "10.0.0.1", how), "inside_denied");
    EXPECT_EQ(verdict(policy, kLocal, "o.example.test:3128", "127.0.0.1", how), "loop");
  }
}

TEST(policy, a_loopback_client_that_another_host_tells_of_is_not_on_this_host) {
  const Policy policy = policy_of({});
  const Client told{*IpAddress::parse("127.0.0.1"), true};
  EXPECT_EQ(verdict(policy, told, "127.0.0.1:80"), "inside_denied");
  EXPECT_EQ(verdict(policy, kLocal, "127.0.0.1:80"), "allowed");
}

}  // namespace
}  // namespace headrace::access
