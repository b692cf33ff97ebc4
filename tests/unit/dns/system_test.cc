#include "dns/system.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

namespace headrace::dns {
namespace {

using Names = std::vector<std::string>;

std::string addresses_of(const Hosts& hosts, const std::string& name) {
  const std::vector<IpAddress>* const addresses = hosts.find(name);
  if (!addresses) return "unknown";
  std::string text;
  for (const IpAddress& address : *addresses) text += address.to_string() + " ";
  return text;
}

TEST(hosts, names_and_aliases_have_the_addresses_of_all_their_lines) {
  const Hosts hosts = Hosts::parse(
      "# comment\n"
      "192.0.2.1\tPrinter  printer.lan. # first floor\r\n"
      "2001:db8::1 printer\n"
      "192.0.2.1 printer\n"
      "\n"
      "192.0.2.2 last");
  EXPECT_EQ(addresses_of(hosts, "printer"), "192.0.2.1 2001:db8::1 ");
  EXPECT_EQ(addresses_of(hosts, "printer.lan"), "192.0.2.1 ");
  EXPECT_EQ(addresses_of(hosts, "last"), "192.0.2.2 ");
  EXPECT_EQ(addresses_of(hosts, "first"), "unknown");
}

TEST(hosts, lines_without_an_address_are_passed_over) {
  const Hosts hosts =
      Hosts::parse("fe80::1%eth0 router\n192.0.2 short\nname 192.0.2.1\n192.0.2.1\n");
  for (const char* name : {"router", "short", "name", "192.0.2.1"}) {
    EXPECT_EQ(addresses_of(hosts, name), "unknown") << name;
  }
}

TEST(hosts, localhost_is_this_host_unless_the_file_says_otherwise) {
  EXPECT_EQ(addresses_of(Hosts(), "localhost"), "127.0.0.1 ::1 ");
  EXPECT_EQ(addresses_of(Hosts(), "a.b.localhost"), "127.0.0.1 ::1 ");
  EXPECT_EQ(addresses_of(Hosts(), "notlocalhost"), "unknown");
  EXPECT_EQ(addresses_of(Hosts::parse("127.0.0.1 localhost"), "localhost"), "127.0.0.1 ");
}

TEST(resolv_conf, servers_domains_and_options_are_read) {
  const ServerSettings settings = ServerSettings::parse(
      "; comment\n"
      "nameserver 192.0.2.53\n"
      "nameserver\t2001:db8::53 # second\n"
      "nameserver fe80::53%eth0\n"
      "nameserver ns.example.test\n"
      "search old.test\n"
      "search Lan.Example.Test. example.test\n"
      "options timeout:1 ndots:2 rotate\n",
      "own.test");
  EXPECT_EQ(settings.servers, (Names{"192.0.2.53:53", "[2001:db8::53]:53", "[fe80::53%eth0]:53"}));
  EXPECT_EQ(settings.search, (Names{"lan.example.test", "example.test"}));
  EXPECT_EQ(settings.ndots, 2u);
  EXPECT_TRUE(settings.rotate);
}

TEST(resolv_conf, an_empty_file_means_this_host_and_its_own_domain) {
  const ServerSettings settings = ServerSettings::parse("", "own.test");
  EXPECT_EQ(settings.servers, Names{"127.0.0.1:53"});
  EXPECT_EQ(settings.search, Names{"own.test"});
  EXPECT_EQ(settings.ndots, 1u);
  EXPECT_FALSE(settings.rotate);
  EXPECT_EQ(ServerSettings::parse("search .\n", "own.test").search, Names{});
  EXPECT_EQ(ServerSettings::parse("options ndots:99", "").ndots, 15u);
}

TEST(resolv_conf, dots_decide_whether_a_name_is_first_tried_as_it_is) {
  const ServerSettings settings =
      ServerSettings::parse("search a.test b.test\noptions ndots:2", "");
  EXPECT_EQ(settings.candidates("x.y.z"), (Names{"x.y.z", "x.y.z.a.test", "x.y.z.b.test"}));
  EXPECT_EQ(settings.candidates("x.y"), (Names{"x.y.a.test", "x.y.b.test", "x.y"}));
  const std::string longest = std::string(248, 'x');
  EXPECT_EQ(settings.candidates(longest), Names{longest}) << "no room for a domain";
}

class WatchedFileTest : public testing::Test {
 protected:
  ~WatchedFileTest() override { ::unlink(path.c_str()); }
  void write(const std::string& text) { std::ofstream(path) << text; }
  std::optional<std::string> read_a_second_later() {
    now += WatchedFile::kLookEvery;
    return file.read_if_changed(now);
  }

  std::string path = testing::TempDir() + "watched_file_test." + std::to_string(::getpid());
  WatchedFile file{path};
  net::Instant now{std::chrono::seconds(1)};
};

TEST_F(WatchedFileTest, is_read_at_first_and_again_when_it_changed) {
  write("one");
  EXPECT_EQ(file.read_if_changed(now), "one");
  EXPECT_EQ(read_a_second_later(), std::nullopt);
  write("two, longer");
  EXPECT_EQ(file.read_if_changed(now), std::nullopt) << "it looks once a second";
  EXPECT_EQ(read_a_second_later(), "two, longer");
}

TEST_F(WatchedFileTest, is_empty_where_it_does_not_exist) {
  EXPECT_EQ(file.read_if_changed(now), "");
  EXPECT_EQ(read_a_second_later(), std::nullopt);
  write("now it does");
  EXPECT_EQ(read_a_second_later(), "now it does");
  ::unlink(path.c_str());
  EXPECT_EQ(read_a_second_later(), "");
}

TEST_F(WatchedFileTest, what_cannot_be_read_now_is_read_later) {
  ASSERT_EQ(::mkdir(path.c_str(), 0700), 0);
  EXPECT_EQ(file.read_if_changed(now), std::nullopt);
  ASSERT_EQ(::rmdir(path.c_str()), 0);
  write("at last");
  EXPECT_EQ(read_a_second_later(), "at last");
}

TEST_F(WatchedFileTest, is_cut_where_it_is_too_long) {
  write(std::string(WatchedFile::kBytesMax + 100'000, 'x'));
  EXPECT_EQ(file.read_if_changed(now)->size(), WatchedFile::kBytesMax);
}

}  // namespace
}  // namespace headrace::dns
