// Which servers are asked, in what order and for how long; and the system's files.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/time.h>

#include <vector>

#include "base/unique_fd.h"
#include "dns/channel.h"
#include "resolver_fixture.h"

namespace headrace::dns {
namespace {

using Answers = std::vector<std::string>;
using std::chrono::milliseconds;
using std::chrono::seconds;

Answers silence(const ScriptedServer::Asked&) {
  return {};
}

TEST_F(ResolverTest, a_dead_first_server_costs_a_second_once) {
  ScriptedServer second;
  more_servers = {&second};
  server.answer(silence);
  resolve("first.test");
  EXPECT_GE(took(), milliseconds(900));
  EXPECT_LT(took(), milliseconds(3'000));
  resolve("second.test");
  EXPECT_LT(took(), kAtOnce) << "the dead server was asked first again";
  EXPECT_EQ(server.count("second.test", kA), 0u);
}

TEST_F(ResolverTest, names_that_met_the_dead_server_together_agree_on_the_next) {
  ScriptedServer second;
  more_servers = {&second};
  server.answer(silence);
  std::vector<std::unique_ptr<Asker>> askers;
  for (int i = 0; i < 4; ++i) askers.push_back(ask("n" + std::to_string(i) + ".test"));
  for (const auto& asker : askers) ASSERT_TRUE(run_until_finished(*asker));
  resolve("next.test");
  EXPECT_EQ(server.count("next.test", kA), 0u);
}

TEST_F(ResolverTest, a_server_that_fails_is_passed_over) {
  ScriptedServer second;
  more_servers = {&second};
  server.answer([](const auto& asked) { return Answers{Message(asked).code(kServFail).bytes()}; });
  const auto asker = resolve("o.test");
  EXPECT_EQ(asker->lookup.v4().addresses.size(), 1u);
  EXPECT_LT(took(), kAtOnce);
}

// The kernel says so by ICMP, of which it sends only so many a second: others may have used them
// up.
TEST_F(ResolverTest, a_server_that_is_not_there_fails_at_once) {
  constexpr int kAttempts = 5;
  bool at_once = false;
  for (int i = 0; i < kAttempts && !at_once; ++i) {
    options.servers = ScriptedServer().name();
    options.timeout = seconds(2);
    resolver = std::move(Resolver::create(*loop, options)).value();
    const auto asker = resolve("o.test");
    at_once = asker->lookup.error() == Errc::name_failed && took() < kAtOnce;
  }
  EXPECT_TRUE(at_once);
}

TEST_F(ResolverTest, silent_servers_are_given_up_after_the_time_limit) {
  ScriptedServer second;
  more_servers = {&second};
  server.answer(silence);
  second.answer(silence);
  make_resolver(seconds(2));
  const auto asker = resolve("o.test");
  EXPECT_EQ(asker->lookup.error(), Errc::name_timed_out);
  EXPECT_GE(took(), milliseconds(1'900));
  EXPECT_LT(took(), milliseconds(3'500));
  EXPECT_GE(server.count("o.test", kA), 2u);
  EXPECT_GE(second.count("o.test", kA), 1u);
}

TEST_F(ResolverTest, a_server_may_be_ipv6_with_a_port) {
  ScriptedServer six("::1");
  more_servers = {&six};
  options.servers = six.name();
  resolver = std::move(Resolver::create(*loop, options)).value();
  EXPECT_EQ(resolve("o.test")->lookup.v4().addresses.size(), 1u);
  EXPECT_EQ(six.asked().size(), 2u);
}

// 1.18 knows no interfaces, and later versions may not know this one.
TEST_F(ResolverTest, a_link_local_server_does_not_spoil_the_others) {
  struct Listener final : Channel::Listener {
    void learn(const Channel::Outcome& outcome) override {
      learned = true;
      error = outcome.error;
    }
    bool learned = false;
    std::optional<Errc> error;
  } listener;
  Asker owner;
  const std::vector<std::string> servers = {"[fe80::53%nosuch0]:53", server.name()};
  auto opened = Channel::open(*loop, owner, servers, Channel::kTryTimeout);
  ASSERT_TRUE(opened.has_value());
  Channel& channel = **opened;
  ASSERT_TRUE(channel.ask("o.test", IpAddress::Family::v4, listener));
  ASSERT_TRUE(run_until([&] {
    channel.process();
    return listener.learned;
  }));
  EXPECT_EQ(listener.error, std::nullopt);
}

TEST_F(ResolverTest, malformed_servers_are_refused) {
  options.servers = "192.0.2.53, ns.example.test";
  const auto made = Resolver::create(*loop, options);
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().what, Errc::malformed);
}

// Takes all descriptors of the process but `spare`.
class ScarceDescriptors {
 public:
  explicit ScarceDescriptors(size_t spare) {
    getrlimit(RLIMIT_NOFILE, &before_);
    rlimit low = before_;
    low.rlim_cur = 256;
    setrlimit(RLIMIT_NOFILE, &low);
    for (;;) {
      UniqueFd fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
      if (!fd) break;
      taken_.push_back(std::move(fd));
    }
    taken_.resize(taken_.size() - spare);
  }
  ~ScarceDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
  std::vector<UniqueFd> taken_;
};

TEST_F(ResolverTest, out_of_descriptors_is_said_at_once_and_not_remembered) {
  ScriptedServer second;
  more_servers = {&second};
  resolve("before.test");
  {
    ScarceDescriptors scarce(0);
    const auto asker = ask("o.test");
    EXPECT_TRUE(asker->lookup.finished()) << "it waits for a time-out instead";
    EXPECT_EQ(asker->lookup.error(), Errc::out_of_descriptors);
  }
  EXPECT_EQ(resolve("o.test")->lookup.v4().addresses.size(), 1u);
}

TEST_F(ResolverTest, out_of_descriptors_for_tcp_is_said_as_well) {
  server.listen_for_tcp();
  server.answer([](const auto& asked) { return Answers{Message(asked).truncated().bytes()}; });
  resolve("before.test");
  ScarceDescriptors scarce(1);
  const auto asker = resolve("o.test");
  EXPECT_EQ(asker->lookup.error(), Errc::out_of_descriptors);
  EXPECT_LT(took(), kAtOnce);
}

TEST_F(ResolverTest, the_hosts_file_comes_first_and_its_changes_are_followed) {
  hosts.replace(
      "192.0.2.7 printer printer.lan\n2001:db8::7 printer\n192.0.2.8 "
      "scanner\n");
  const auto printer = ask("printer");
  EXPECT_TRUE(printer->lookup.finished());
  EXPECT_EQ(text_of(printer->lookup.v4().addresses), "192.0.2.7");
  EXPECT_EQ(text_of(printer->lookup.v6().addresses), "2001:db8::7");
  const auto scanner = ask("scanner");
  EXPECT_EQ(text_of(scanner->lookup.v4().addresses), "192.0.2.8");
  EXPECT_EQ(scanner->lookup.v6().error, Errc::name_unknown);

  hosts.replace("192.0.2.9 printer\n");
  clock.advance(seconds(2));
  turn();
  EXPECT_EQ(text_of(ask("printer")->lookup.v4().addresses), "192.0.2.9");
  EXPECT_TRUE(server.asked().empty());
}

TEST_F(ResolverTest, localhost_is_this_host_and_never_asked_for) {
  for (const char* name : {"localhost", "app.localhost"}) {
    const auto asker = ask(name);
    EXPECT_EQ(text_of(asker->lookup.v4().addresses), "127.0.0.1") << name;
    EXPECT_EQ(text_of(asker->lookup.v6().addresses), "::1") << name;
  }
  EXPECT_TRUE(server.asked().empty());
}

TEST_F(ResolverTest, onion_names_are_never_asked_for) {
  const auto asker = ask("abcdef.onion");
  EXPECT_TRUE(asker->lookup.finished());
  EXPECT_EQ(asker->lookup.error(), Errc::name_unknown);
  EXPECT_TRUE(server.asked().empty());
}

TEST_F(ResolverTest, domains_are_searched_as_resolv_conf_says) {
  resolv_conf.replace("search one.test two.test\noptions ndots:1\n");
  server.answer([](const auto& asked) {
    Message message(asked);
    if (asked.name != "host.two.test")
      message.code(kNxDomain);
    else
      message.any_address();
    return Answers{message.bytes()};
  });
  const auto asker = resolve("host");
  EXPECT_EQ(asker->lookup.v4().addresses.size(), 1u);
  EXPECT_EQ(server.count("host.one.test", kA), 1u);
  EXPECT_EQ(server.count("host.two.test", kA), 1u);
  EXPECT_EQ(server.count("host", kA), 0u);

  EXPECT_EQ(resolve("no.such.name")->lookup.error(), Errc::name_unknown);
  EXPECT_EQ(server.count("no.such.name", kA), 1u);
  EXPECT_EQ(server.count("no.such.name.two.test", kA), 1u);
}

TEST_F(ResolverTest, after_a_failure_no_other_name_is_tried) {
  resolv_conf.replace("search one.test two.test\n");
  server.answer([](const auto& asked) {
    Message message(asked);
    if (asked.name == "host.one.test") return Answers{message.code(kServFail).bytes()};
    return Answers{message.any_address().bytes()};
  });
  EXPECT_EQ(resolve("host")->lookup.error(), Errc::name_failed);
  EXPECT_EQ(server.count("host.two.test", kA), 0u);
}

}  // namespace
}  // namespace headrace::dns
