#include "base/error.h"

#include <cerrno>
#include <iterator>

namespace headrace {
namespace {

struct Words {
  std::string_view name;
  std::string_view text;
};

// In the order of Errc.
constexpr Words kWords[] = {
    {"ended", "the connection ended in the middle of a message"},
    {"reset", "the connection was reset"},
    {"malformed", "the message is malformed"},
    {"unsupported", "the message asks for something that this proxy does not offer"},
    {"too_large", "the message is larger than this proxy accepts"},
    {"uri_too_long", "the request line is longer than this proxy accepts"},
    {"timed_out", "nothing came within the time allowed"},
    {"cut_short", "the TLS connection was ended without being closed"},
    {"tls_failed", "the TLS handshake failed"},
    {"certificate_refused", "the certificate is not to be trusted"},
    {"unauthorized", "valid credentials for this proxy are needed"},
    {"client_denied", "this client may not use this proxy"},
    {"target_denied", "this destination is not allowed"},
    {"port_denied", "this destination port is not allowed"},
    {"inside_denied", "this destination is an inside address, closed to outside clients"},
    {"loop", "the request would come back to this proxy"},
    {"name_missing", "the client names no server, and no default destination is set"},
    {"client_limit", "the listener holds as many connections as it may"},
    {"handshake_limit", "the listener has as many TLS handshakes under way as it may"},
    {"name_unknown", "the destination's name has no address"},
    {"name_timed_out", "no name server answered in time"},
    {"name_failed", "the name server refused or failed to answer"},
    {"connect_refused", "the destination refused the connection"},
    {"connect_timed_out", "the destination did not answer in time"},
    {"host_unreachable", "the destination host is unreachable"},
    {"network_unreachable", "the destination's network is unreachable"},
    {"family_unsupported", "the destination has no address of a usable family"},
    {"connect_failed", "the connection to the destination failed"},
    {"answer_timed_out", "the destination did not answer the request in time"},
    {"out_of_descriptors", "this proxy is out of file descriptors"},
    {"out_of_ports", "this proxy is out of local ports towards the destination"},
    {"out_of_memory", "this proxy's host is out of memory"},
    {"cancelled", "this proxy is shutting down"},
    {"os_failure", "a system call of this proxy failed"},
};
static_assert(std::size(kWords) == kErrcCount);

}  // namespace

std::string_view name_of(Errc what) {
  return kWords[static_cast<size_t>(what)].name;
}

std::string_view describe(Errc what) {
  return kWords[static_cast<size_t>(what)].text;
}

std::string_view name_of(Side side) {
  switch (side) {
    case Side::local:
      return "local";
    case Side::client:
      return "client";
    case Side::upstream:
      return "upstream";
  }
  return "local";
}

Errc errc_of_errno(int os_errno) {
  switch (os_errno) {
    case ECONNRESET:
    case EPIPE:
      return Errc::reset;
    case ECONNABORTED:
      return Errc::cut_short;  // how the TLS layer says it
    case EBADMSG:
      return Errc::tls_failed;
    case ECONNREFUSED:
      return Errc::connect_refused;
    case ETIMEDOUT:
      return Errc::connect_timed_out;
    case EHOSTUNREACH:
    case EHOSTDOWN:
      return Errc::host_unreachable;
    case ENETUNREACH:
    case ENETDOWN:
      return Errc::network_unreachable;
    case EAFNOSUPPORT:
      return Errc::family_unsupported;
    case EMFILE:
    case ENFILE:
      return Errc::out_of_descriptors;
    case EADDRNOTAVAIL:
      return Errc::out_of_ports;
    case ENOMEM:
    case ENOBUFS:
      return Errc::out_of_memory;
    default:
      return Errc::os_failure;
  }
}

}  // namespace headrace
