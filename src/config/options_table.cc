#include "config/options_table.h"

#include <algorithm>
#include <vector>

#include "config/nearest_name.h"
#include "config/option_values.h"

namespace headrace::config {
namespace {

using namespace std::chrono_literals;
using Access = access::Options;
using Session = session::ListenerOptions;
using preface::ProxyProtocol;
using relay::SpliceMode;
using Tls = tls::ServerOptions;
using ToTls = tls::ClientOptions;

// Below this a timeout would cut healthy connections on any network.
constexpr microseconds kTimeoutMin = 10ms;
constexpr microseconds kIdleMax = std::chrono::days(30);

constexpr auto kListener = Scope::listener;
constexpr auto kTop = Scope::top;
constexpr auto kApplies = Reload::applies;
constexpr auto kNeedsRestart = Reload::needs_restart;

std::vector<Option> make_options() {
  return {
      {"setup_timeout", kListener, kApplies, duration(in(&Session::setup_timeout), kTimeoutMin, 1h),
       "From a client's first byte, or its connect, to its complete request: no client may take "
       "longer than this in all."},
      {"connect_timeout", kListener, kApplies,
       duration(in(&Session::connect_timeout), kTimeoutMin, 1h),
       "How long an upstream may take to accept a connection, over all of its addresses."},
      {"answer_timeout", kListener, kApplies,
       duration(in(&Session::answer_timeout), kTimeoutMin, 24h),
       "HTTP: how long an upstream that has the whole request may take to the first byte of its "
       "answer. Interim answers begin it anew, up to idle_timeout in all."},
      {"idle_timeout", kListener, kApplies,
       duration(in(&Session::idle_timeout), kTimeoutMin, kIdleMax),
       "A tunnel or transfer in which neither side has sent anything for so long is closed."},
      {"keepalive_timeout", kListener, kApplies,
       duration(in(&Session::keepalive_timeout), kTimeoutMin, 24h),
       "HTTP: how long a client's connection may wait for its next request, and a pooled upstream "
       "connection for its next use."},
      {"half_closed_timeout", kListener, kApplies,
       duration(in(&Session::half_closed_timeout), kTimeoutMin, kIdleMax),
       "A tunnel of which one side has ended its sending and the other has been silent for so long "
       "is closed."},
      {"max_connections", kListener, kApplies, count(in(&Session::max_connections), 0, 10'000'000),
       "Connections of clients that the listener holds at once, over all workers; further ones are "
       "closed at once and counted. 0: no limit but that of descriptors."},
      {"source", kListener, kApplies, address_or_auto(in(&Session::source)),
       "The address of this host to dial upstreams from; auto leaves it to the routes."},
      {"connect_ports", kListener, kApplies, ports(in(&Access::connect_ports)),
       "HTTP: the ports that CONNECT may lead to; sni: those that to_port may name."},
      {"to_port", kListener, kApplies, port(in(&Session::to_port)),
       "sni: the port at which the servers that clients name are asked, whatever port the client "
       "came to."},
      {"accept_proxy_protocol", kListener, kApplies,
       networks_or_off(in(&Session::accept_proxy_protocol)),
       "Proxies in front that tell by the PROXY protocol (version 1 or 2) whom they pass on; that "
       "client's address then counts for every rule and log. On such a listener each connection "
       "must begin with a header: from other networks none is taken and the connection is refused, "
       "as nothing tells a forged header from a true one. Clients of a unix socket count as "
       "named."},
      {"send_proxy_protocol", kListener, kApplies,
       choice<ProxyProtocol>(
           in(&Session::send_proxy_protocol),
           {{"off", ProxyProtocol::off}, {"v1", ProxyProtocol::v1}, {"v2", ProxyProtocol::v2}}),
       "relay and sni: whether the upstream gets a PROXY protocol header with the client's "
       "address, "
       "in front of all else; with v2, sni tells the name as well. The upstream must expect it."},
      {"splice", kListener, kApplies,
       choice<SpliceMode>(in(&Session::splice), {{"auto", SpliceMode::automatic},
                                                 {"always", SpliceMode::always},
                                                 {"never", SpliceMode::never}}),
       "Whether bytes stay inside the kernel on their way: auto does so where much flows at once."},
      {"access_log", kListener, kApplies, log_target(in(&Listener::access_log)),
       "Where one line for each connection or request goes."},
      {"tls.certificate", kListener, kNeedsRestart, files(in(&Tls::certificates)),
       "TLS from the client: certificates in PEM, each file a whole chain with the leaf first. One "
       "of "
       "each kind of key for the same names is chosen by what the client takes, those for other "
       "names "
       "by the name that it asks for."},
      {"tls.key", kListener, kNeedsRestart, files(in(&Tls::keys)),
       "The private keys in PEM, in the order of the certificates."},
      {"tls.staple", kListener, kNeedsRestart, files(in(&Tls::staples)),
       "OCSP responses in DER to give with the first certificates, in their order."},
      {"tls.client_ca", kListener, kNeedsRestart, file_or_none(in(&Tls::client_ca)),
       "Clients are asked for a certificate that one of these in PEM has signed."},
      {"tls.client_certificate", kListener, kNeedsRestart,
       choice<tls::ClientCertificate>(in(&Tls::client_certificate),
                                      {{"required", tls::ClientCertificate::required},
                                       {"optional", tls::ClientCertificate::optional}}),
       "What becomes of a client that has no certificate, where it is asked for one."},
      {"tls.ticket_keys", kListener, kNeedsRestart, file_or_none(in(&Tls::ticket_keys)),
       "Keys that session tickets are sealed with, for hosts that share them or a restart to go on "
       "with: 80 random bytes each, at most 16. The first seals, all open; HUP reads them again. "
       "none: made at start, another one every 12 hours."},
      {"tls.unknown_name", kListener, kNeedsRestart,
       choice<tls::UnknownName>(in(&Tls::unknown_name),
                                {{"first_certificate", tls::UnknownName::first_certificate},
                                 {"refused", tls::UnknownName::refused}}),
       "What a client gets that asks for a name of which there is no certificate."},
      {"tls.min_version", kListener, kNeedsRestart,
       choice<tls::Version>(in(&Tls::min_version),
                            {{"1.2", tls::Version::tls12}, {"1.3", tls::Version::tls13}}),
       "The oldest version of TLS that clients may speak."},
      {"tls.groups", kListener, kNeedsRestart, list_or_auto(in(&Tls::groups), "colons"),
       "Groups for the key exchange, the best first, as the TLS library spells them; auto: "
       "X25519MLKEM768 where the library has it, X25519, P-256, P-384."},
      {"tls.ciphers", kListener, kNeedsRestart, list_or_auto(in(&Tls::ciphers), "colons"),
       "Cipher suites of TLS 1.2 as the TLS library spells them; auto: AES-GCM and ChaCha20 with "
       "ECDHE, AES-128 first. Those of TLS 1.3 are fixed."},
      {"tls.alpn", kListener, kNeedsRestart, list_or_auto(in(&Tls::alpn), "commas"),
       "Application protocols (ALPN) that are agreed to; a client that offers only others is "
       "refused. auto: http/1.1 for http, and no word about it for the others."},
      {"tls.handshakes_max", kListener, kNeedsRestart,
       count(in(&Tls::handshakes_max), 1, 1'000'000),
       "TLS handshakes that the listener has under way at once, over all workers; further ones are "
       "reset and counted."},
      {"tls.ktls", kListener, kNeedsRestart,
       choice<tls::KernelTls>(in(&Tls::ktls), {{"auto", tls::KernelTls::automatic},
                                               {"on", tls::KernelTls::on},
                                               {"off", tls::KernelTls::off}}),
       "Whether the kernel makes and opens the records, where it can (kTLS, TLS 1.3): auto has it "
       "do "
       "so for connections that move a megabyte within a second, which are then spliced. Linux "
       "before "
       "6.14 cannot follow a KeyUpdate, and a connection that gets one there ends."},
      {"to_tls.ca", kListener, kNeedsRestart, file_or_none(in(&ToTls::ca)),
       "TLS to the destination of a relay: whom to trust, in PEM; none: whom this host trusts."},
      {"to_tls.name", kListener, kNeedsRestart,
       text_or(in(&ToTls::name), "auto", "name or IP address"),
       "The name to ask for, and that the certificate must be for; auto: the destination's."},
      {"to_tls.certificate", kListener, kNeedsRestart, file_or_none(in(&ToTls::certificate)),
       "The certificate chain in PEM to show to a destination that asks for one."},
      {"to_tls.key", kListener, kNeedsRestart, file_or_none(in(&ToTls::key)),
       "Its private key in PEM."},
      {"to_tls.alpn", kListener, kNeedsRestart,
       text_or(in(&ToTls::alpn), "none", "names separated by commas"),
       "Application protocols (ALPN) to offer to the destination."},
      {"to_tls.ktls", kListener, kNeedsRestart,
       choice<tls::KernelTls>(in(&ToTls::ktls), {{"auto", tls::KernelTls::automatic},
                                                 {"on", tls::KernelTls::on},
                                                 {"off", tls::KernelTls::off}}),
       "Like tls.ktls, for the connections to the destination."},

      {"workers", kTop, kNeedsRestart, count_or_auto(in(&Settings::workers), 1024),
       "Threads that carry traffic; auto: one for each CPU that headrace may use."},
      {"dns_timeout", kTop, kNeedsRestart, duration(in(&dns::Options::timeout), kTimeoutMin, 5min),
       "How long resolving one name may take, over all resolvers and tries."},
      {"dns_servers", kTop, kNeedsRestart, servers_or_system(in(&dns::Options::servers)),
       "The resolvers to ask; system: those of /etc/resolv.conf."},
      {"drain_timeout", kTop, kApplies, duration(in(&Settings::drain_timeout), 0s, 24h),
       "At the end (TERM, INT): how long open connections may go on before they are cut."},
      {"log_level", kTop, kApplies,
       choice<LogLevel>(in(&Settings::log_level), {{"error", LogLevel::error},
                                                   {"warn", LogLevel::warn},
                                                   {"info", LogLevel::info},
                                                   {"debug", LogLevel::debug}}),
       "How much headrace says about itself on standard error: this and what is graver."},
  };
}

}  // namespace

std::span<const Option> options() {
  static const std::vector<Option> kOptions = make_options();
  return kOptions;
}

const Option* find_option(std::string_view name) {
  const auto rows = options();
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [&](const Option& option) { return option.name == name; });
  return row == rows.end() ? nullptr : &*row;
}

Fault unknown_key_fault(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Option& option : options()) names.push_back(option.name);
  const std::string_view nearest = nearest_name(name, names);
  if (nearest.empty()) return Fault{"is no key; headrace help options lists all"};
  return Fault{"is no key; did you mean " + std::string(nearest) + "?"};
}

std::string Option::default_text() const {
  Settings settings;
  Listener listener;
  return value.show(Place{settings, listener});
}

}  // namespace headrace::config
