#include "access/port_set.h"

#include <gtest/gtest.h>

#include "access/options.h"

namespace headrace::access {
namespace {

// "held" and "not held" of a list that must be well formed.
void expect_ports(std::string_view text, std::initializer_list<uint16_t> held,
                  std::initializer_list<uint16_t> not_held) {
  std::string fault;
  const std::optional<PortSet> ports = PortSet::parse(text, fault);
  ASSERT_TRUE(ports) << text << ": " << fault;
  EXPECT_EQ(fault, "");
  for (const uint16_t port : held) EXPECT_TRUE(ports->contains(port)) << text << ' ' << port;
  for (const uint16_t port : not_held) EXPECT_FALSE(ports->contains(port)) << text << ' ' << port;
}

TEST(port_set, lists_hold_ports_and_ranges_to_their_ends) {
  expect_ports("80", {80}, {0, 79, 81, 65535});
  expect_ports("80, 443, 8000-8099", {80, 443, 8000, 8050, 8099}, {79, 81, 442, 7999, 8100});
  expect_ports(" 80 ,443\t", {80, 443}, {81});
  expect_ports("1-65535", {1, 65535}, {0});
  expect_ports("90-90, 80-100", {80, 90, 100}, {79, 101});
}

TEST(port_set, any_holds_every_port_but_zero) {
  expect_ports("any", {1, 25, 65535}, {0});
  expect_ports(" any ", {1}, {0});
}

TEST(port_set, faults_say_what_is_wrong) {
  struct Case {
    const char* text;
    const char* fault;
  };
  constexpr Case kCases[] = {
      {"", "'' is no port: a number from 1 to 65535 is"},
      {"80,", "'' is no port: a number from 1 to 65535 is"},
      {",80", "'' is no port: a number from 1 to 65535 is"},
      {"80 443", "'80 443' is no port: a number from 1 to 65535 is"},
      {"http", "'http' is no port: a number from 1 to 65535 is"},
      {"0", "'0' is no port: a number from 1 to 65535 is"},
      {"80, 65536", "'65536' is no port: a number from 1 to 65535 is"},
      {"4294967739", "'4294967739' is no port: a number from 1 to 65535 is"},
      {"+80", "'+80' is no port: a number from 1 to 65535 is"},
      {"-80", "'' is no port: a number from 1 to 65535 is"},
      {"80-", "'' is no port: a number from 1 to 65535 is"},
      {"80-90-100", "'90-100' is no port: a number from 1 to 65535 is"},
      {"80, any", "'any' is no port: a number from 1 to 65535 is"},
      {"443, 8099-8000", "'8099-8000' ends before it begins"},
  };
  for (const Case& c : kCases) {
    std::string fault;
    EXPECT_FALSE(PortSet::parse(c.text, fault)) << c.text;
    EXPECT_EQ(fault, c.fault);
  }
}

TEST(port_set, connect_may_go_to_tls_and_high_ports_unless_told_otherwise) {
  const Options options;
  for (const uint16_t port : std::initializer_list<uint16_t>{443, 8443, 1024, 65535})
    EXPECT_TRUE(options.connect_ports.contains(port)) << port;
  for (const uint16_t port : std::initializer_list<uint16_t>{0, 22, 25, 80, 465, 587, 993, 1023})
    EXPECT_FALSE(options.connect_ports.contains(port)) << port;
}

TEST(port_set, an_empty_set_holds_nothing) {
  EXPECT_FALSE(PortSet().contains(0));
  EXPECT_FALSE(PortSet().contains(80));
}

}  // namespace
}  // namespace headrace::access
