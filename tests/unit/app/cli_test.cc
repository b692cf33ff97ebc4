#include "app/cli.h"

#include <gtest/gtest.h>

#include <chrono>
#include <sstream>
#include <string>
#include <vector>

namespace headrace::app {
namespace {

using namespace std::chrono_literals;
using session::Protocol;

using Arguments = std::vector<std::string>;

Printout printout_of(const Arguments& arguments, const Environment& environment = {}) {
  auto outcome = read_command_line(arguments, environment);
  if (auto* printout = std::get_if<Printout>(&outcome)) return *printout;
  return Printout{-1, "serves", "serves"};
}

// Of a command line that must be good.
config::Settings settings_of(const Arguments& arguments, const Environment& environment = {}) {
  auto outcome = read_command_line(arguments, environment);
  if (auto* printout = std::get_if<Printout>(&outcome)) {
    ADD_FAILURE() << printout->error_output << printout->output;
    return config::Settings{{config::Listener{}}, {}, {}, {}, {}};
  }
  return std::get<config::Settings>(outcome);
}

config::Listener listener_of(const Arguments& arguments, const Environment& environment = {}) {
  return settings_of(arguments, environment).listeners.at(0);
}

void expect_wrong_usage(const Arguments& arguments, const std::string& error_output) {
  const Printout printout = printout_of(arguments);
  EXPECT_EQ(printout.exit_code, 2);
  EXPECT_EQ(printout.output, "");
  EXPECT_EQ(printout.error_output, error_output);
}

void expect_bad_configuration(const Arguments& arguments, const std::string& error_output,
                              const Environment& environment = {}) {
  const Printout printout = printout_of(arguments, environment);
  EXPECT_EQ(printout.exit_code, 1);
  EXPECT_EQ(printout.output, "");
  EXPECT_EQ(printout.error_output, error_output);
}

// ---- serving ----

TEST(cli, a_command_alone_listens_at_its_usual_address) {
  const struct {
    const char* command;
    Protocol protocol;
    const char* address;
  } kCases[] = {
      {"http", Protocol::http, "127.0.0.1:3128"},
      {"socks", Protocol::socks, "127.0.0.1:1080"},
      {"mixed", Protocol::mixed, "127.0.0.1:3128"},
  };
  for (const auto& [command, protocol, address] : kCases) {
    const config::Settings settings = settings_of({command});
    ASSERT_EQ(settings.listeners.size(), 1u);
    EXPECT_EQ(settings.listeners[0].listen, Arguments{address});
    EXPECT_EQ(settings.listeners[0].session.protocol, protocol);
    EXPECT_EQ(settings.listeners[0].session.name, command);
    EXPECT_EQ(settings.listeners[0].access_log, "off");
    EXPECT_EQ(settings.workers, 0u);
    EXPECT_EQ(settings.log_level, LogLevel::info);
    EXPECT_EQ(settings.drain_timeout, 30s);
  }
}

TEST(cli, addresses_can_be_repeated_and_stand_anywhere) {
  EXPECT_EQ(listener_of({"http", "127.0.0.1:1", "[::1]:2", "unix:/run/p", "unix:@p"}).listen,
            (Arguments{"127.0.0.1:1", "[::1]:2", "unix:/run/p", "unix:@p"}));
  EXPECT_EQ(listener_of({"http", "--user", "a:b", ":1", "--allow", "::1", ":2", "--set",
                         "splice=never", ":3"})
                .listen,
            (Arguments{":1", ":2", ":3"}));
}

TEST(cli, free_ports_may_be_asked_for_twice_but_no_port_may) {
  EXPECT_EQ(listener_of({"http", "127.0.0.1:0", "127.0.0.1:0"}).listen.size(), 2u);
  expect_bad_configuration({"http", "127.0.0.1:1", "localhost:1"},
                           "headrace: \"localhost:1\" is given twice\n");
  expect_bad_configuration({"http", "unix:/a", "unix:/a"},
                           "headrace: \"unix:/a\" is given twice\n");
}

TEST(cli, a_relay_needs_its_address_and_its_destination) {
  const config::Listener listener = listener_of({"relay", ":80", "--to", "Example.test:443"});
  EXPECT_EQ(listener.listen, Arguments{":80"});
  EXPECT_EQ(listener.session.to, Target::parse("example.test:443"));
  EXPECT_EQ(listener_of({"relay", "--to", "[2001:db8::1]:1", ":80"}).session.to->to_string(),
            "[2001:db8::1]:1");
  expect_wrong_usage({"relay", ":80"}, "headrace: --to is required; see headrace help relay\n");
  expect_wrong_usage({"relay", "--to", "a:1"},
                     "headrace: ADDR is required; see headrace help relay\n");
  for (const char* to : {"nowhere", "a:0", "a:65536", "a b:1", ":1", "::1:1"})
    EXPECT_EQ(printout_of({"relay", ":80", "--to", to}).error_output,
              "headrace: --to: \"" + std::string(to) + "\" is not HOST:PORT or [IPV6]:PORT\n");
}

TEST(cli, sni_needs_its_address_and_may_have_a_default_destination) {
  const config::Listener plain = listener_of({"sni", "127.0.0.1:443"});
  EXPECT_EQ(plain.session.protocol, Protocol::sni);
  EXPECT_EQ(plain.session.to, std::nullopt);
  EXPECT_EQ(plain.session.to_port, 443);
  const config::Listener both =
      listener_of({"sni", ":443", "--open", "--to", "Example.test:8443", "--to-port", "8443"});
  EXPECT_EQ(both.session.to, Target::parse("example.test:8443"));
  EXPECT_EQ(both.session.to_port, 8443);
  expect_wrong_usage({"sni"}, "headrace: ADDR is required; see headrace help sni\n");
  expect_bad_configuration({"sni", "127.0.0.1:1", "--to", "nowhere"},
                           "headrace: --to: \"nowhere\" is not HOST:PORT or [IPV6]:PORT\n");
}

TEST(cli, the_port_of_sni_is_one_that_clients_may_go_to) {
  expect_bad_configuration({"sni", "127.0.0.1:1", "--to-port", "993"},
                           "headrace: to_port: 993 is none of connect_ports, so that every client "
                           "would be refused; add it there\n");
  EXPECT_EQ(listener_of({"sni", "127.0.0.1:1", "--to-port", "993", "--set", "connect_ports=993"})
                .session.to_port,
            993);
  for (const char* port : {"0", "65536", "https", ""})
    EXPECT_EQ(printout_of({"sni", "127.0.0.1:1", "--to-port", port}).error_output,
              "headrace: --to-port: \"" + std::string(port) +
                  "\" is no port: a number from 1 to 65535 is\n");
}

TEST(cli, only_relay_and_sni_tell_their_upstreams_the_client) {
  const Arguments set = {"--set", "send_proxy_protocol=v2"};
  for (const char* command : {"http", "socks", "mixed"})
    expect_bad_configuration({command, set[0], set[1]},
                             "headrace: send_proxy_protocol: only relay and sni can send it\n");
  EXPECT_EQ(listener_of({"sni", "127.0.0.1:1", set[0], set[1]}).session.send_proxy_protocol,
            preface::ProxyProtocol::v2);
  EXPECT_EQ(listener_of({"relay", ":1", "--to", "a:1", set[0], set[1]}).session.send_proxy_protocol,
            preface::ProxyProtocol::v2);
}

TEST(cli, options_arrive) {
  const config::Settings settings = settings_of({"http",
                                                 "127.0.0.1:0",
                                                 "--workers",
                                                 "3",
                                                 "--allow",
                                                 "192.0.2.0/24",
                                                 "--allow",
                                                 "::1",
                                                 "--user",
                                                 "ann:pass:word",
                                                 "--user=bob:",
                                                 "--open",
                                                 "--allow-private",
                                                 "--splice",
                                                 "always",
                                                 "--access-log",
                                                 "-",
                                                 "--log-level",
                                                 "debug",
                                                 "--set",
                                                 "idle_timeout=2s",
                                                 "--set",
                                                 "dns_servers=127.0.0.1:5353",
                                                 "--set=connect_ports=any"});
  const config::Listener& listener = settings.listeners.at(0);
  EXPECT_EQ(settings.workers, 3u);
  ASSERT_EQ(listener.access.allow.size(), 2u);
  EXPECT_EQ(listener.access.allow[0].to_string(), "192.0.2.0/24");
  EXPECT_EQ(listener.access.allow[1].to_string(), "::1/128");
  EXPECT_TRUE(listener.access.users.verify("ann", "pass:word"));
  EXPECT_TRUE(listener.access.users.verify("bob", ""));
  EXPECT_FALSE(listener.access.users.verify("ann", "pass"));
  EXPECT_TRUE(listener.access.open);
  EXPECT_TRUE(listener.access.allow_private);
  EXPECT_EQ(listener.session.splice, relay::SpliceMode::always);
  EXPECT_EQ(listener.access_log, "-");
  EXPECT_EQ(settings.log_level, LogLevel::debug);
  EXPECT_EQ(listener.session.idle_timeout, 2s);
  EXPECT_EQ(settings.dns.servers, "127.0.0.1:5353");
  EXPECT_TRUE(listener.access.connect_ports.contains(25));
}

TEST(cli, every_service_takes_every_common_option) {
  for (const char* command : {"http", "socks", "mixed", "relay", "sni"}) {
    Arguments arguments = {command,       ":0",        "--open",       "--allow-private",
                           "--allow",     "0.0.0.0/0", "--workers",    "auto",
                           "--splice",    "never",     "--access-log", "off",
                           "--log-level", "warn",      "--set",        "source=::1"};
    if (arguments[0] == "relay") arguments.insert(arguments.end(), {"--to", "a:1"});
    EXPECT_EQ(listener_of(arguments).session.source, IpAddress::parse("::1")) << command;
  }
}

TEST(cli, a_user_can_come_from_the_environment) {
  const Environment environment{"ann", "secret:1"};
  EXPECT_TRUE(listener_of({"http", ":1"}, environment).access.users.verify("ann", "secret:1"));
  const config::Listener both = listener_of({"socks", ":1", "--user", "bob:x"}, environment);
  EXPECT_TRUE(both.access.users.verify("ann", "secret:1"));
  EXPECT_TRUE(both.access.users.verify("bob", "x"));
  for (const Environment& half : {Environment{"ann", {}}, Environment{{}, "secret"}})
    EXPECT_EQ(printout_of({"http"}, half).exit_code, 1);
}

// ---- refusals ----

TEST(cli, an_open_proxy_needs_to_be_wanted) {
  for (const char* command : {"http", "socks", "mixed"}) {
    for (const char* address :
         {":3128", "0.0.0.0:3128", "192.0.2.1:0", "[::]:1", "[2001:db8::1]:1"}) {
      const Printout printout = printout_of({command, "127.0.0.1:1", address});
      EXPECT_EQ(printout.exit_code, 1) << address;
      for (const char* remedy : {"--allow", "--user", "--open"})
        EXPECT_NE(printout.error_output.find(remedy), std::string::npos) << printout.error_output;
    }
    for (const char* address : {"127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "unix:/p", "unix:@p"})
      EXPECT_EQ(listener_of({command, address}).listen, Arguments{address});
    EXPECT_TRUE(listener_of({command, ":1", "--open"}).access.open);
    EXPECT_EQ(listener_of({command, ":1", "--allow", "10.0.0.0/8"}).access.allow.size(), 1u);
    EXPECT_FALSE(listener_of({command, ":1", "--user", "a:b"}).access.users.empty());
  }
  EXPECT_EQ(listener_of({"relay", ":1", "--to", "a:1"}).listen, Arguments{":1"});
}

TEST(cli, who_is_behind_a_proxy_is_no_safer_on_loopback) {
  const Arguments set = {"--set", "accept_proxy_protocol=127.0.0.1"};
  for (const char* command : {"http", "socks", "mixed", "sni"}) {
    for (const char* address : {"127.0.0.1:1", "unix:@p"}) {
      const Printout printout = printout_of({command, address, set[0], set[1]});
      EXPECT_EQ(printout.exit_code, 1) << command << ' ' << address;
      EXPECT_NE(printout.error_output.find("--allow"), std::string::npos) << printout.error_output;
      EXPECT_TRUE(listener_of({command, address, "--open", set[0], set[1]}).access.open);
    }
  }
  EXPECT_EQ(listener_of({"relay", "127.0.0.1:1", "--to", "a:1", set[0], set[1]})
                .session.accept_proxy_protocol.size(),
            1u);
}

TEST(cli, sni_on_an_address_that_others_reach_needs_a_decision) {
  const Printout printout = printout_of({"sni", ":443"});
  EXPECT_EQ(printout.exit_code, 1);
  EXPECT_NE(printout.error_output.find("--allow"), std::string::npos) << printout.error_output;
  EXPECT_NE(printout.error_output.find("--open"), std::string::npos) << printout.error_output;
  EXPECT_EQ(printout.error_output.find("--user"), std::string::npos) << printout.error_output;
}

TEST(cli, sni_does_not_pretend_to_ask_for_passwords) {
  expect_bad_configuration(
      {"sni", "127.0.0.1:1", "--user", "a:b"},
      "headrace: --user: sni cannot ask its clients who they are; use --allow CIDR\n");
}

TEST(cli, a_relay_does_not_pretend_to_ask_for_passwords) {
  const std::string fault =
      "headrace: --user: a relay cannot ask its clients who they are; use --allow CIDR\n";
  expect_bad_configuration({"relay", ":1", "--to", "a:1", "--user", "a:b"}, fault);
  expect_bad_configuration({"relay", ":1", "--to", "a:1"}, fault, Environment{"a", "b"});
}

TEST(cli, all_bad_values_are_told_at_once) {
  expect_bad_configuration(
      {"http", "nowhere", "--allow", "10.0.0.1/8", "--user", "x", "--workers", "0", "--set",
       "idle_timout=3s", "--set", "idle_timeout=3"},
      "headrace: --allow: \"10.0.0.1/8\" is no network; write an address, or 192.0.2.0/24 with "
      "zeros behind its bits\n"
      "headrace: --user: a user is written NAME:PASSWORD\n"
      "headrace: --workers: \"0\" is not from 1 to 1024\n"
      "headrace: --set idle_timout: is no key; did you mean idle_timeout?\n"
      "headrace: --set idle_timeout: \"3\" needs a unit: us, ms, s, min, h or d\n"
      "headrace: \"nowhere\" is no address to listen on; write IP:PORT, [IPV6]:PORT, :PORT (all "
      "addresses), unix:/PATH or unix:@NAME\n");
}

TEST(cli, a_mistyped_allow_is_not_answered_with_advice_about_open_proxies) {
  EXPECT_EQ(printout_of({"http", ":1", "--allow", "10/8"}).error_output.find("--open"),
            std::string::npos);
}

TEST(cli, no_key_is_given_twice_however_it_is_written) {
  expect_bad_configuration({"http", "--set", "splice=auto", "--set", "splice=auto"},
                           "headrace: --set splice: splice is given twice\n");
  expect_bad_configuration({"http", "--set", "workers=1", "--workers", "2"},
                           "headrace: --set workers: workers is given twice\n");
  expect_bad_configuration({"http", "--workers", "1", "--workers", "2"},
                           "headrace: --workers: workers is given twice\n");
}

TEST(cli, passwords_never_appear_in_faults) {
  for (const char* user : {":secret-x", "a\n:secret-x"}) {
    const Printout printout = printout_of({"http", "--user", user});
    EXPECT_EQ(printout.exit_code, 1);
    EXPECT_EQ(printout.error_output.find("secret-x"), std::string::npos) << printout.error_output;
  }
}

TEST(cli, what_is_no_command_line_is_wrong_usage) {
  expect_wrong_usage({"htp"},
                     "headrace: \"htp\" is no command; did you mean http? See headrace help\n");
  expect_wrong_usage({""}, "headrace: \"\" is no command; see headrace help\n");
  expect_wrong_usage({"--open", "http"},
                     "headrace: a command must stand before \"--open\"; see headrace help\n");
  expect_wrong_usage({"http", "--slice", "never"},
                     "headrace: \"--slice\" is no option of headrace http; did you mean --splice? "
                     "See headrace help http\n");
  expect_wrong_usage(
      {"http", "--idle-timeout=3s"},
      "headrace: \"--idle-timeout\" is no option of headrace http; did you mean --set "
      "idle_timeout=VALUE? See headrace help http\n");
  expect_wrong_usage({"http", "--to", "a:1"},
                     "headrace: \"--to\" is no option of headrace http; see headrace help http\n");
  expect_wrong_usage({"http", "--set", "splice"},
                     "headrace: --set: \"splice\" is not KEY=VALUE; see headrace help http\n");
  expect_wrong_usage({"version", "x"},
                     "headrace: \"x\" is one argument too many; see headrace help version\n");
  for (const Arguments& arguments :
       {Arguments{"http", "--set"}, Arguments{"http", "--workers"}, Arguments{"http", "--open=1"},
        Arguments{"relay", ":1", "--to", "a:1", "--to", "b:1"}})
    EXPECT_EQ(printout_of(arguments).exit_code, 2);
}

TEST(cli, nothing_at_all_is_answered_with_help_and_wrong_usage) {
  const Printout printout = printout_of({});
  EXPECT_EQ(printout.exit_code, 2);
  EXPECT_EQ(printout.output, "");
  EXPECT_EQ(printout.error_output, printout_of({"help"}).output);
}

// ---- printing ----

TEST(cli, the_version_is_printed) {
  for (const Arguments& arguments : {Arguments{"version"}, Arguments{"--version"}}) {
    EXPECT_EQ(printout_of(arguments).exit_code, 0);
    EXPECT_EQ(printout_of(arguments).output.substr(0, 11), "headrace 0.");
    EXPECT_EQ(printout_of(arguments).output.back(), '\n');
  }
}

TEST(cli, help_names_every_command_and_every_option_of_a_command) {
  const std::string help = printout_of({"help"}).output;
  for (const char* command :
       {"http", "socks", "mixed", "relay", "sni", "version", "help", "options"})
    EXPECT_NE(help.find(command), help.npos) << command;
  for (const char* command : {"http", "socks", "mixed", "relay", "sni"}) {
    const Printout printout = printout_of({"help", command});
    EXPECT_EQ(printout.exit_code, 0);
    for (const char* part : {"ADDR", "--allow CIDR", "--workers N|auto", "--splice", "--access-log",
                             "--log-level", "--set KEY=VALUE", "TERM and INT", "Exit codes"})
      EXPECT_NE(printout.output.find(part), std::string::npos) << command << ' ' << part;
    EXPECT_EQ(printout_of({command, "--help"}).output, printout.output);
    EXPECT_EQ(printout_of({command, "-h", "--workers", "0"}).output, printout.output);
  }
  for (const char* option : {"--user NAME:PASSWORD", "--open", "--allow-private"}) {
    EXPECT_NE(printout_of({"help", "http"}).output.find(option), std::string::npos) << option;
    EXPECT_EQ(printout_of({"help", "relay"}).output.find(option), std::string::npos) << option;
  }
  EXPECT_NE(printout_of({"help", "relay"}).output.find("--to HOST:PORT"), std::string::npos);
  for (const char* option : {"--to HOST:PORT", "--to-port PORT", "--open", "--allow-private"})
    EXPECT_NE(printout_of({"help", "sni"}).output.find(option), std::string::npos) << option;
  EXPECT_EQ(printout_of({"help", "sni"}).output.find("--user"), std::string::npos);
}

TEST(cli, help_fits_a_terminal_of_100_columns) {
  for (const Arguments& arguments :
       {Arguments{"help"}, Arguments{"help", "http"}, Arguments{"help", "relay"},
        Arguments{"help", "sni"}, Arguments{"help", "help"}}) {
    std::istringstream lines(printout_of(arguments).output);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
  }
}

TEST(cli, help_options_prints_the_reference_page) {
  EXPECT_EQ(printout_of({"help", "options"}).output.substr(0, 21), "# Configuration keys\n");
  expect_wrong_usage(
      {"help", "optoins"},
      "headrace: \"optoins\" is no command; did you mean options? See headrace help\n");
}

}  // namespace
}  // namespace headrace::app
