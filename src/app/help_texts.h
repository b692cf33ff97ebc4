// What `headrace help` says beside the names of things.
#pragma once

#include <cstddef>
#include <string>

#include "session/options.h"

namespace headrace::app {

// Where the explanations of options begin, and how long their lines are.
inline constexpr size_t kHelpColumn = 34;
inline constexpr size_t kHelpTextColumns = 66;

std::string version_text();

inline constexpr char kProgramText[] =
    "headrace: a proxy server. Carries connections to where their clients want them.";
inline constexpr char kProgramFooter[] =
    "headrace help COMMAND explains a command, headrace help options every configuration key.\n"
    "\n"
    "  headrace mixed                                       HTTP and SOCKS on 127.0.0.1:3128\n"
    "  headrace socks 192.0.2.1:1080 --allow 192.0.2.0/24   SOCKS for a network\n"
    "  headrace relay :8025 --to mail.example.test:25       one port to one destination";

// Of a command that serves: what it is in one line, what its ADDR means, and what follows the
// options.
std::string summary_of(session::Protocol protocol);
std::string address_text_of(session::Protocol protocol);
std::string footer_of(session::Protocol protocol);

inline constexpr char kToText[] =
    "The destination of every connection; a name is resolved anew each time";
inline constexpr char kSniToText[] =
    "The destination of clients that name no server in their TLS ClientHello. Without it they are "
    "refused";
inline constexpr char kToPortText[] =
    "The port of the servers that clients name (default 443); it must be one of connect_ports";
inline constexpr char kAllowText[] =
    "Clients that may connect, by network or address; repeatable. Without it: any";
inline constexpr char kUserText[] =
    "A user who may use the proxy; repeatable. Anyone on this host can read a command line; "
    "HEADRACE_USER and HEADRACE_PASSWORD in the environment name a user unseen";
inline constexpr char kOpenText[] =
    "Serve anyone: needed on an address that others can reach where nothing else says who may use "
    "it";
inline constexpr char kAllowPrivateText[] =
    "Let clients of other hosts reach private networks (RFC 1918, RFC 4193, RFC 6598) through "
    "this one";
inline constexpr char kWorkersText[] = "Threads that carry traffic; auto: one for each usable CPU";
inline constexpr char kEngineText[] =
    "How the kernel is asked (default auto: io_uring where granted)";
inline constexpr char kSpliceText[] = "Whether bytes stay inside the kernel (default auto)";
inline constexpr char kAccessLogText[] =
    "One line for each connection or request: to a file, standard output (-), or nowhere (off, "
    "the default)";
inline constexpr char kLogLevelText[] = "What is told on standard error (default info)";
inline constexpr char kTlsCertificateText[] =
    "TLS from the client: a certificate chain in PEM; repeatable, each with its --tls-key";
inline constexpr char kTlsKeyText[] = "The private key of the certificate in the same place";
inline constexpr char kToTlsText[] = "TLS to the destination, whose certificate is verified";
inline constexpr char kToCaText[] =
    "Whom to trust for that, in PEM; without it: whom the host trusts";
inline constexpr char kToNameText[] =
    "The name to ask for, and that the certificate must be for, instead of the destination's";
inline constexpr char kToInsecureText[] = "Take any certificate: anybody may be in between";
inline constexpr char kSetText[] =
    "Any key of headrace help options, such as idle_timeout=2s; repeatable";

}  // namespace headrace::app
