#include "app/service_arguments.h"

#include <set>

#include "app/check_settings.h"
#include "base/check.h"
#include "config/options_table.h"
#include "config/words.h"

namespace headrace::app {
namespace {

using session::Protocol;

void append(Faults& faults, std::string_view about, std::string_view reason) {
  faults.push_back(std::string(about) + ": " + std::string(reason));
}

void assign_all(const std::vector<Assignment>& assignments, config::Place place, Faults& faults) {
  std::set<std::string_view> seen;
  for (const Assignment& assignment : assignments) {
    const config::Option* option = config::find_option(assignment.key);
    if (!option) {
      append(faults, assignment.written_as, config::unknown_key_fault(assignment.key).reason);
    } else if (!seen.insert(option->name).second) {
      append(faults, assignment.written_as, std::string(option->name) + " is given twice");
    } else if (const auto fault = option->value.set(place, assignment.text)) {
      append(faults, assignment.written_as, fault->reason);
    }
  }
}

void add_allowed(const std::vector<std::string>& networks, access::Options& access,
                 Faults& faults) {
  for (const std::string& text : networks) {
    if (const std::optional<IpNetwork> network = IpNetwork::parse(text))
      access.allow.push_back(*network);
    else
      append(faults, "--allow",
             config::in_quotes(text) +
                 " is no network; write an address, or 192.0.2.0/24 with zeros behind its bits");
  }
}

void add_users(const ServiceArguments& arguments, const Environment& environment,
               access::Options& access, Faults& faults) {
  for (const std::string& pair : arguments.users)
    if (const auto reason = access.users.add_pair(pair)) append(faults, "--user", *reason);
  if (environment.user.has_value() != environment.password.has_value()) {
    append(faults, environment.user ? "HEADRACE_USER" : "HEADRACE_PASSWORD",
           "needs the other of HEADRACE_USER and HEADRACE_PASSWORD beside it");
  } else if (environment.user) {
    if (const auto reason = access.users.add(*environment.user, *environment.password))
      append(faults, "HEADRACE_USER", *reason);
  }
  // Who asks for a password and does not get it asked would believe the port guarded.
  const bool can_ask = arguments.protocol != Protocol::relay && arguments.protocol != Protocol::sni;
  if (!can_ask && !access.users.empty())
    append(faults, "--user",
           std::string(arguments.protocol == Protocol::relay ? "a relay" : "sni") +
               " cannot ask its clients who they are; use --allow CIDR");
}

void set_destination(const std::string& to, session::ListenerOptions& options, Faults& faults) {
  options.to = Target::parse(to);
  if (!options.to)
    append(faults, "--to", config::in_quotes(to) + " is not HOST:PORT or [IPV6]:PORT");
}

// The flags go in front of what tls.certificate and its like say.
void add_tls_files(const ServiceArguments& arguments, tls::ServerOptions& tls, Faults& faults) {
  tls.certificates.insert(tls.certificates.begin(), arguments.tls_certificates.begin(),
                          arguments.tls_certificates.end());
  tls.keys.insert(tls.keys.begin(), arguments.tls_keys.begin(), arguments.tls_keys.end());
  if (tls.certificates.size() != tls.keys.size())
    append(faults, tls.certificates.size() > tls.keys.size() ? "--tls-cert" : "--tls-key",
           "each certificate needs its key, and each key its certificate: there are " +
               std::to_string(tls.certificates.size()) + " and " + std::to_string(tls.keys.size()));
  else if (tls.staples.size() > tls.certificates.size())
    append(faults, "tls.staple", "there are more of them than certificates");
  else if (!tls.client_ca.empty() && !tls.enabled())
    append(faults, "tls.client_ca", "needs --tls-cert and --tls-key");
  else if (tls.enabled() && arguments.protocol == Protocol::sni)
    append(faults, "--tls-cert", "sni passes TLS through to whom it is meant for, and ends none");
}

// What would have no effect is refused: its author believes that it has one.
void set_to_tls(const ServiceArguments& arguments, session::ListenerOptions& options,
                Faults& faults) {
  tls::ClientOptions& to_tls = options.to_tls;
  to_tls.enabled = arguments.to_tls;
  to_tls.insecure = arguments.to_insecure;
  const bool any_key = !to_tls.ca.empty() || !to_tls.name.empty() || !to_tls.certificate.empty() ||
                       !to_tls.key.empty() || !to_tls.alpn.empty() ||
                       to_tls.ktls != tls::KernelTls::automatic;
  if (arguments.protocol != Protocol::relay && any_key)
    append(faults, "to_tls", "only a relay has one destination to speak TLS with");
  else if (!to_tls.enabled && (any_key || to_tls.insecure))
    append(faults, "--to-tls", "is needed for what is said of TLS to the destination");
  else if (to_tls.insecure && !to_tls.ca.empty())
    append(faults, "--to-insecure", "takes any certificate, so --to-ca does nothing beside it");
  else if (to_tls.certificate.empty() != to_tls.key.empty())
    append(faults, "to_tls.certificate", "and to_tls.key need each other");
}

}  // namespace

std::variant<config::Settings, Faults> settings_of(const ServiceArguments& arguments,
                                                   const Environment& environment) {
  Faults faults;
  config::Settings settings;
  config::Listener listener;

  listener.session.protocol = arguments.protocol;
  listener.session.name = name_of(arguments.protocol);
  listener.listen = arguments.listen;
  if (listener.listen.empty()) listener.listen.emplace_back(default_address_of(arguments.protocol));
  const bool may_have_none = arguments.protocol != Protocol::relay;
  if (!may_have_none || !arguments.to.empty())
    set_destination(arguments.to, listener.session, faults);

  listener.access.open = arguments.open;
  listener.access.allow_private = arguments.allow_private;
  add_allowed(arguments.allow, listener.access, faults);
  add_users(arguments, environment, listener.access, faults);
  assign_all(arguments.assignments, config::Place{settings, listener}, faults);
  add_tls_files(arguments, listener.session.tls, faults);
  set_to_tls(arguments, listener.session, faults);
  const bool understood = faults.empty();

  settings.listeners.push_back(std::move(listener));
  // An allowed client that was mistyped must not be answered with advice to allow somebody.
  for (std::string& fault : understood ? check_settings(settings) : check_addresses(settings))
    faults.push_back(std::move(fault));
  if (!faults.empty()) return faults;
  return settings;
}

std::string_view name_of(Protocol protocol) {
  switch (protocol) {
    case Protocol::http:
      return "http";
    case Protocol::socks:
      return "socks";
    case Protocol::mixed:
      return "mixed";
    case Protocol::relay:
      return "relay";
    case Protocol::sni:
      return "sni";
  }
  HEADRACE_ASSERT(false && "a protocol without a name");
  return {};
}

std::string_view default_address_of(Protocol protocol) {
  switch (protocol) {
    case Protocol::http:
    case Protocol::mixed:
      return "127.0.0.1:3128";
    case Protocol::socks:
      return "127.0.0.1:1080";
    case Protocol::relay:
    case Protocol::sni:
      return {};
  }
  HEADRACE_ASSERT(false && "a protocol without a default address");
  return {};
}

}  // namespace headrace::app
