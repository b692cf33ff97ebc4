#include "config/options_table.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace headrace::config {
namespace {

using namespace std::chrono_literals;

// A place for values, with the outcome of one assignment.
struct Filled {
  Settings settings;
  Listener listener;
  std::string fault = "accepted";

  Filled(std::string_view key, std::string_view text) {
    const Option* option = find_option(key);
    EXPECT_NE(option, nullptr) << key;
    if (std::optional<Fault> refused = option->value.set(Place{settings, listener}, text))
      fault = refused->reason;
  }
};

std::string fault_of(std::string_view key, std::string_view text) {
  return Filled(key, text).fault;
}

std::string default_of(std::string_view key) {
  return find_option(key)->default_text();
}

TEST(options, names_are_unique_and_every_row_is_complete) {
  std::set<std::string_view> names;
  for (const Option& option : options()) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
    EXPECT_FALSE(option.value.syntax.empty()) << option.name;
    EXPECT_TRUE(option.summary.ends_with('.')) << option.name;
  }
}

TEST(options, the_defaults_are_those_of_the_contract) {
  EXPECT_EQ(default_of("setup_timeout"), "10s");
  EXPECT_EQ(default_of("connect_timeout"), "10s");
  EXPECT_EQ(default_of("answer_timeout"), "5min");
  EXPECT_EQ(default_of("idle_timeout"), "1h");
  EXPECT_EQ(default_of("keepalive_timeout"), "1min");
  EXPECT_EQ(default_of("half_closed_timeout"), "5min");
  EXPECT_EQ(default_of("max_connections"), "0");
  EXPECT_EQ(default_of("source"), "auto");
  EXPECT_EQ(default_of("connect_ports"), "443, 8443, 1024-65535");
  EXPECT_EQ(default_of("splice"), "auto");
  EXPECT_EQ(default_of("access_log"), "off");
  EXPECT_EQ(default_of("tls.certificate"), "none");
  EXPECT_EQ(default_of("tls.client_certificate"), "required");
  EXPECT_EQ(default_of("tls.unknown_name"), "first_certificate");
  EXPECT_EQ(default_of("tls.min_version"), "1.2");
  EXPECT_EQ(default_of("tls.groups"), "auto");
  EXPECT_EQ(default_of("tls.handshakes_max"), "4096");
  EXPECT_EQ(default_of("to_tls.ca"), "none");
  EXPECT_EQ(default_of("to_tls.name"), "auto");
  EXPECT_EQ(default_of("workers"), "auto");
  EXPECT_EQ(default_of("engine"), "auto");
  EXPECT_EQ(default_of("dns_timeout"), "5s");
  EXPECT_EQ(default_of("dns_servers"), "system");
  EXPECT_EQ(default_of("drain_timeout"), "30s");
  EXPECT_EQ(default_of("log_level"), "info");
}

TEST(options, the_text_of_each_default_is_accepted_and_means_the_default) {
  for (const Option& option : options()) {
    Settings settings;
    Listener listener;
    const Place place{settings, listener};
    const std::optional<Fault> fault = option.value.set(place, option.default_text());
    EXPECT_FALSE(fault) << option.name << ' ' << fault->reason;
    EXPECT_EQ(option.value.show(place), option.default_text()) << option.name;
  }
}

TEST(options, a_value_arrives_where_it_is_used) {
  EXPECT_EQ(Filled("setup_timeout", "1s").listener.session.setup_timeout, 1s);
  EXPECT_EQ(Filled("connect_timeout", "2s").listener.session.connect_timeout, 2s);
  EXPECT_EQ(Filled("answer_timeout", "3s").listener.session.answer_timeout, 3s);
  EXPECT_EQ(Filled("idle_timeout", "4s").listener.session.idle_timeout, 4s);
  EXPECT_EQ(Filled("keepalive_timeout", "5s").listener.session.keepalive_timeout, 5s);
  EXPECT_EQ(Filled("half_closed_timeout", "6s").listener.session.half_closed_timeout, 6s);
  EXPECT_EQ(Filled("max_connections", "7").listener.session.max_connections, 7u);
  EXPECT_EQ(Filled("source", "192.0.2.1").listener.session.source, IpAddress::v4(0xc0000201));
  EXPECT_FALSE(Filled("source", "auto").listener.session.source);
  EXPECT_TRUE(Filled("connect_ports", "25").listener.access.connect_ports.contains(25));
  EXPECT_TRUE(Filled("connect_ports", "any").listener.access.connect_ports.contains(1));
  EXPECT_FALSE(Filled("connect_ports", "25").listener.access.connect_ports.contains(443));
  EXPECT_EQ(Filled("splice", "never").listener.session.splice, relay::SpliceMode::never);
  EXPECT_EQ(Filled("access_log", "-").listener.access_log, "-");
  EXPECT_EQ(Filled("workers", "8").settings.workers, 8u);
  EXPECT_EQ(Filled("workers", "auto").settings.workers, 0u);
  EXPECT_EQ(Filled("engine", "epoll").settings.net.engine, net::Engine::epoll);
  EXPECT_EQ(Filled("engine", "io_uring").settings.net.engine, net::Engine::io_uring);
  EXPECT_EQ(Filled("dns_timeout", "9s").settings.dns.timeout, 9s);
  EXPECT_EQ(Filled("drain_timeout", "0s").settings.drain_timeout, 0s);
  EXPECT_EQ(Filled("log_level", "debug").settings.log_level, LogLevel::debug);
}

TEST(options, dns_servers_are_addresses_with_or_without_a_port) {
  EXPECT_EQ(Filled("dns_servers", "192.0.2.53").settings.dns.servers, "192.0.2.53");
  EXPECT_EQ(Filled("dns_servers", "127.0.0.1:5353,[2001:db8::53]:53 , ::1").settings.dns.servers,
            "127.0.0.1:5353, [2001:db8::53]:53, ::1");
  EXPECT_EQ(Filled("dns_servers", "system").settings.dns.servers, "");
  EXPECT_EQ(fault_of("dns_servers", "192.0.2.53, dns.example.test"),
            "\"dns.example.test\" is no IP address, with or without a port");
  EXPECT_EQ(fault_of("dns_servers", ""), "\"\" is no IP address, with or without a port");
  EXPECT_EQ(fault_of("dns_servers", "192.0.2.53:0"),
            "\"192.0.2.53:0\" is no IP address, with or without a port");
}

TEST(options, proxies_in_front_are_networks_or_off) {
  const auto networks_of = [](const char* text) {
    std::string shown;
    for (const IpNetwork& network :
         Filled("accept_proxy_protocol", text).listener.session.accept_proxy_protocol)
      shown += network.to_string() + ' ';
    return shown;
  };
  EXPECT_EQ(networks_of("192.0.2.0/24"), "192.0.2.0/24 ");
  EXPECT_EQ(networks_of("127.0.0.1,::1 , 192.0.2.0/24"), "127.0.0.1/32 ::1/128 192.0.2.0/24 ");
  EXPECT_EQ(networks_of("off"), "");
  EXPECT_EQ(fault_of("accept_proxy_protocol", "127.0.0.1, 10.0.0.1/8"),
            "\"10.0.0.1/8\" is no network; write an address, or 192.0.2.0/24 with zeros behind its "
            "bits");
  for (const char* text : {"", "on", "127.0.0.1,", "off, ::1"})
    EXPECT_NE(fault_of("accept_proxy_protocol", text), "accepted") << text;
}

TEST(options, bounds_hold_and_are_told) {
  EXPECT_EQ(fault_of("idle_timeout", "10ms"), "accepted");
  EXPECT_EQ(fault_of("idle_timeout", "9ms"), "\"9ms\" is not from 10ms to 30d");
  EXPECT_EQ(fault_of("idle_timeout", "30d"), "accepted");
  EXPECT_EQ(fault_of("idle_timeout", "31d"), "\"31d\" is not from 10ms to 30d");
  EXPECT_EQ(fault_of("max_connections", "10000001"), "\"10000001\" is not from 0 to 10000000");
  EXPECT_EQ(fault_of("workers", "0"), "\"0\" is not from 1 to 1024");
  EXPECT_EQ(fault_of("workers", "1025"), "\"1025\" is not from 1 to 1024");
}

TEST(options, a_value_of_the_wrong_kind_is_refused_in_words) {
  EXPECT_EQ(fault_of("idle_timeout", "30"), "\"30\" needs a unit: us, ms, s, min, h or d");
  EXPECT_EQ(fault_of("workers", "many"), "\"many\" is not a whole number");
  EXPECT_EQ(fault_of("source", "localhost"), "\"localhost\" is neither an IP address nor auto");
  EXPECT_EQ(fault_of("splice", "sometimes"), "\"sometimes\" is not one of auto, always or never");
  EXPECT_EQ(fault_of("log_level", "Info"), "\"Info\" is not one of error, warn, info or debug");
  EXPECT_EQ(fault_of("access_log", ""), "is empty; write a file name, - or off");
  EXPECT_NE(fault_of("connect_ports", "443, 0"), "accepted");
  EXPECT_NE(fault_of("connect_ports", ""), "accepted");
}

TEST(options, a_refused_value_changes_nothing) {
  EXPECT_EQ(Filled("idle_timeout", "31d").listener.session.idle_timeout, 1h);
  EXPECT_EQ(Filled("dns_servers", "192.0.2.1, x").settings.dns.servers, "");
  EXPECT_TRUE(Filled("connect_ports", "25, x").listener.access.connect_ports.contains(443));
}

TEST(options, an_unknown_key_is_answered_with_the_nearest) {
  EXPECT_EQ(find_option("idle_timout"), nullptr);
  EXPECT_EQ(unknown_key_fault("idle_timout").reason, "is no key; did you mean idle_timeout?");
  EXPECT_EQ(unknown_key_fault("worker").reason, "is no key; did you mean workers?");
  EXPECT_EQ(unknown_key_fault("xyzzy").reason, "is no key; headrace help options lists all");
}

TEST(options, lists_of_files_are_split_at_commas) {
  const std::vector<std::string> two{"a.pem", "b.pem"};
  EXPECT_EQ(Filled("tls.certificate", "a.pem, b.pem").listener.session.tls.certificates, two);
  EXPECT_TRUE(Filled("tls.certificate", "none").listener.session.tls.certificates.empty());
  EXPECT_NE(fault_of("tls.certificate", "a.pem,,b.pem"), "accepted");
  EXPECT_EQ(Filled("tls.client_ca", "ca.pem").listener.session.tls.client_ca, "ca.pem");
  EXPECT_NE(fault_of("tls.client_ca", ""), "accepted");
  EXPECT_EQ(Filled("to_tls.name", "o.example.test").listener.session.to_tls.name, "o.example.test");
}

}  // namespace
}  // namespace headrace::config
