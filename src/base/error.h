// What went wrong, and on whose side. An Error is eight bytes without text: the words are made
// where it is logged or answered. Every Errc is a reason of its own: one value, one counter, one
// line in docs/reasons.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace headrace {

enum class Errc : uint8_t {
  // Whoever is at the other end of a connection.
  ended,                // it ended its sending side where more was needed
  reset,                // it reset the connection
  malformed,            // its bytes break the protocol
  unsupported,          // well formed, but nothing that we offer
  too_large,            // a message or field beyond its limit
  uri_too_long,         // a request line beyond its limit
  timed_out,            // nothing came within the limit of this phase
  cut_short,            // it ended a TLS connection without close_notify (RFC 8446 section 6.1)
  tls_failed,           // no TLS handshake came about, or a record was bad
  certificate_refused,  // its certificate is missing, wrong, or that of another

  // Policy.
  unauthorized,     // credentials missing or wrong
  client_denied,    // the client's address is not among those allowed
  target_denied,    // the rules refuse the destination
  port_denied,      // CONNECT to a port outside connect_ports
  inside_denied,    // an inside address asked for from outside
  loop,             // the request would come back to us
  name_missing,     // a TLS client names no server, and there is no default destination
  client_limit,     // max_connections of the listener
  handshake_limit,  // tls.handshakes_max of the listener

  // The way to the upstream.
  name_unknown,       // the name does not exist (NXDOMAIN), or has no address
  name_timed_out,     // no resolver answered within dns_timeout
  name_failed,        // the resolver refused or failed (REFUSED, SERVFAIL)
  connect_refused,    // connection refused
  connect_timed_out,  // no answer within connect_timeout
  host_unreachable,
  network_unreachable,
  family_unsupported,  // no address of a family that this host can use
  connect_failed,      // any other failure of connect(2), see os_errno
  answer_timed_out,    // no first byte of an answer within answer_timeout

  // Ourselves.
  out_of_descriptors,  // EMFILE, ENFILE
  out_of_ports,        // EADDRNOTAVAIL: no local port left towards this destination
  out_of_memory,       // ENOMEM, ENOBUFS
  cancelled,           // shutting down
  os_failure,          // a system call failed in a way that has no better name, see os_errno
};
inline constexpr size_t kErrcCount = static_cast<size_t>(Errc::os_failure) + 1;

// Whose doing it was. It chooses the reply, the log level and the counter.
enum class Side : uint8_t { local, client, upstream };

struct Error {
  Errc what;
  Side whose;
  int os_errno = 0;  // 0 where no system call was involved

  friend bool operator==(const Error&, const Error&) = default;
};
static_assert(sizeof(Error) == 8);

// The reason's name as logs and metrics write it, e.g. "connect_refused".
std::string_view name_of(Errc what);
// The same in words, for a person who reads an error page or a log line.
std::string_view describe(Errc what);
std::string_view name_of(Side side);

// The reason behind an errno of socket(2), accept(2), pipe(2), recv(2) and their like.
Errc errc_of_errno(int os_errno);

}  // namespace headrace
