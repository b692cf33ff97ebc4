#include "socks/socks5.h"

#include <utility>

namespace headrace::socks {
namespace {

constexpr uint8_t kAuthVersion = 1;  // RFC 1929 section 2

constexpr uint8_t kIpv4 = 1;
constexpr uint8_t kDomain = 3;
constexpr uint8_t kIpv6 = 4;

constexpr size_t kRequestHeadBytes = 4;  // VER CMD RSV ATYP
constexpr size_t kPortBytes = 2;

// A byte that says how long the string behind it is. Needs more where `bytes` ends before the
// string.
std::optional<std::string_view> read_counted(ByteSpan bytes) {
  if (bytes.empty() || bytes.size() - 1 < bytes[0]) return std::nullopt;
  return as_text(bytes.subspan(1, bytes[0]));
}

// The destination as its bytes stand in a request: address or name, then the port.
struct Destination {
  std::optional<Host> host;  // nullopt: a domain that is no name
  std::string asked;
  size_t address_bytes;
};

Destination at_address(const IpAddress& address) {
  const Host host(address);
  return {host, host.to_string(), address.size()};
}

Destination at_domain(std::string_view domain) {
  return {Host::parse(domain), std::string(domain), 1 + domain.size()};
}

bool is_address_type(uint8_t type) {
  return type == kIpv4 || type == kDomain || type == kIpv6;
}

// nullopt: not all of its bytes are there.
std::optional<Destination> read_destination(uint8_t type, ByteSpan bytes) {
  if (type == kDomain) {
    const std::optional<std::string_view> domain = read_counted(bytes);
    if (!domain) return std::nullopt;
    return at_domain(*domain);
  }
  const size_t address_bytes = type == kIpv4 ? 4 : 16;
  if (bytes.size() < address_bytes) return std::nullopt;
  return at_address(type == kIpv4 ? IpAddress::v4(bytes.data()) : IpAddress::v6(bytes.data()));
}

bool is_command(uint8_t command) {
  return command >= static_cast<uint8_t>(Command::connect) &&
         command <= static_cast<uint8_t>(Command::udp_associate);
}

// In the order in which the fields stand.
std::optional<Refusal> refusal_of(uint8_t command, uint8_t address_type) {
  if (!is_command(command)) return Refusal{Errc::unsupported, ReplyCode::command_not_supported};
  if (!is_address_type(address_type))
    return Refusal{Errc::unsupported, ReplyCode::address_type_not_supported};
  return std::nullopt;
}

}  // namespace

Parse<Greeting> parse_greeting(ByteSpan bytes) {
  if (bytes.empty()) return Parse<Greeting>::need_more();
  if (bytes[0] != kVersion5) return Parse<Greeting>::fail(Errc::malformed);
  const std::optional<std::string_view> methods = read_counted(bytes.subspan(1));
  if (!methods) return Parse<Greeting>::need_more();

  const auto offers = [&](Method method) {
    return methods->find(static_cast<char>(method)) != methods->npos;
  };
  return Parse<Greeting>::done({offers(Method::none), offers(Method::password)},
                               2 + methods->size());
}

Parse<Credentials> parse_credentials(ByteSpan bytes) {
  if (bytes.empty()) return Parse<Credentials>::need_more();
  if (bytes[0] != kAuthVersion) return Parse<Credentials>::fail(Errc::malformed);
  const std::optional<std::string_view> user = read_counted(bytes.subspan(1));
  if (!user) return Parse<Credentials>::need_more();
  const std::optional<std::string_view> password = read_counted(bytes.subspan(2 + user->size()));
  if (!password) return Parse<Credentials>::need_more();

  return Parse<Credentials>::done({std::string(*user), std::string(*password)},
                                  3 + user->size() + password->size());
}

Parse<Request> parse_request(ByteSpan bytes) {
  if (bytes.empty()) return Parse<Request>::need_more();
  if (bytes[0] != kVersion5) return Parse<Request>::fail(Errc::malformed);
  if (bytes.size() < kRequestHeadBytes) return Parse<Request>::need_more();

  // The reserved byte is not looked at: nothing hangs on it, and some clients leave rubbish there.
  const uint8_t command = bytes[1];
  const uint8_t address_type = bytes[3];
  Request request;
  request.refusal = refusal_of(command, address_type);
  if (!is_address_type(address_type))
    return Parse<Request>::done(std::move(request), kRequestHeadBytes);

  std::optional<Destination> to = read_destination(address_type, bytes.subspan(kRequestHeadBytes));
  if (!to) return Parse<Request>::need_more();
  const size_t port_at = kRequestHeadBytes + to->address_bytes;
  if (bytes.size() < port_at + kPortBytes) return Parse<Request>::need_more();

  const uint16_t port = load_u16(bytes.data() + port_at);
  request.asked = to->asked + ':' + std::to_string(port);
  // What is no name has no address: told as any name that does not exist.
  if (!request.refusal && !to->host)
    request.refusal = Refusal{Errc::name_unknown, reply_code_of(Errc::name_unknown)};
  if (!request.refusal) {
    request.command = static_cast<Command>(command);
    request.target = {std::move(*to->host), port};
  }
  return Parse<Request>::done(std::move(request), port_at + kPortBytes);
}

Method choose_method(const Greeting& greeting, Authentication authentication) {
  if (authentication == Authentication::required)
    return greeting.offers_password ? Method::password : Method::unacceptable;
  return greeting.offers_none ? Method::none : Method::unacceptable;
}

ReplyCode reply_code_of(Errc what) {
  switch (what) {
    case Errc::unsupported:
      return ReplyCode::command_not_supported;

    case Errc::unauthorized:
    case Errc::client_denied:
    case Errc::target_denied:
    case Errc::port_denied:
    case Errc::inside_denied:
    case Errc::loop:
    case Errc::name_missing:
      return ReplyCode::not_allowed;

    case Errc::connect_refused:
      return ReplyCode::connection_refused;

    case Errc::network_unreachable:
    case Errc::family_unsupported:
      return ReplyCode::network_unreachable;

    // Silence counts as unreachable, as with most servers: `ttl_expired` speaks of IP's hop limit,
    // and some clients do not know it.
    case Errc::name_unknown:
    case Errc::name_timed_out:
    case Errc::name_failed:
    case Errc::connect_timed_out:
    case Errc::host_unreachable:
    case Errc::answer_timed_out:
      return ReplyCode::host_unreachable;

    case Errc::ended:
    case Errc::reset:
    case Errc::malformed:
    case Errc::too_large:
    case Errc::uri_too_long:
    case Errc::timed_out:
    case Errc::cut_short:
    case Errc::tls_failed:
    case Errc::certificate_refused:
    case Errc::client_limit:
    case Errc::handshake_limit:
    case Errc::connect_failed:
    case Errc::out_of_descriptors:
    case Errc::out_of_ports:
    case Errc::out_of_memory:
    case Errc::cancelled:
    case Errc::os_failure:
      return ReplyCode::general_failure;
  }
  return ReplyCode::general_failure;
}

void append_method_reply(std::string& out, Method method) {
  append_u8(out, kVersion5);
  append_u8(out, static_cast<uint8_t>(method));
}

void append_auth_reply(std::string& out, AuthResult result) {
  append_u8(out, kAuthVersion);
  append_u8(out, static_cast<uint8_t>(result));
}

void append_reply(std::string& out, ReplyCode code, const IpAddress& bound_address,
                  uint16_t bound_port) {
  // An IPv4 connection of a dual-stack socket is told as the IPv4 address that it has.
  const IpAddress bound = bound_address.unmapped();
  append_u8(out, kVersion5);
  append_u8(out, static_cast<uint8_t>(code));
  append_u8(out, 0);
  append_u8(out, bound.is_v4() ? kIpv4 : kIpv6);
  out.append(as_text({bound.bytes(), bound.size()}));
  append_u16(out, bound_port);
}

}  // namespace headrace::socks
