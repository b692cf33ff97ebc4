// The arguments of a command that serves (http, socks, mixed, relay, sni) as they were typed, and
// what they mean. Pure; cli.h does the splitting into arguments.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "config/settings.h"

namespace headrace::app {

struct Assignment {
  std::string written_as;  // "--workers", "--set idle_timeout"; for fault texts
  std::string key;
  std::string text;
};

struct ServiceArguments {
  session::Protocol protocol = session::Protocol::mixed;
  std::vector<std::string> listen;  // empty: the protocol's default address
  std::string to;                   // of relay, and of sni where it is given
  std::vector<std::string> allow;
  std::vector<std::string> users;  // NAME:PASSWORD
  std::vector<std::string> tls_certificates;
  std::vector<std::string> tls_keys;
  bool to_tls = false;  // of relay
  bool to_insecure = false;
  bool open = false;
  bool allow_private = false;
  std::vector<Assignment> assignments;
};

// What is read of the environment: a password given there stands in no list of processes.
struct Environment {
  std::optional<std::string> user;      // HEADRACE_USER
  std::optional<std::string> password;  // HEADRACE_PASSWORD
};

// One line per fault, each with what to change. All of them are told at once.
using Faults = std::vector<std::string>;

std::variant<config::Settings, Faults> settings_of(const ServiceArguments& arguments,
                                                   const Environment& environment);

// The protocol's name, which is also that of its command and of the listener it makes.
std::string_view name_of(session::Protocol protocol);
// Where it listens when nobody says; empty for relay and sni, which have no usual place.
std::string_view default_address_of(session::Protocol protocol);

}  // namespace headrace::app
