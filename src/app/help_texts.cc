#include "app/help_texts.h"

#include "app/service_arguments.h"
#include "base/check.h"
#include "tls/version.h"

namespace headrace::app {
namespace {

using session::Protocol;

// Shows the protocol at work.
std::string example_of(Protocol protocol) {
  switch (protocol) {
    case Protocol::http:
      return "headrace http, then curl -x http://127.0.0.1:3128 http://example.test/";
    case Protocol::socks:
      return "headrace socks, then curl -x socks5h://127.0.0.1:1080 http://example.test/";
    case Protocol::mixed:
      return "headrace mixed, then curl -x socks5h://127.0.0.1:3128 http://example.test/";
    case Protocol::relay:
      return "headrace relay :8025 --to mail.example.test:25";
    case Protocol::sni:
      return "headrace sni :443 --allow 192.0.2.0/24 --to fallback.example.test:443";
  }
  HEADRACE_ASSERT(false && "a protocol without an example");
  return {};
}

}  // namespace

std::string version_text() {
  return "headrace " HEADRACE_VERSION "\ntls: " + tls::library_version();
}

std::string summary_of(Protocol protocol) {
  switch (protocol) {
    case Protocol::http:
      return "HTTP forward proxy: requests and CONNECT";
    case Protocol::socks:
      return "SOCKS 4, 4a and 5 proxy";
    case Protocol::mixed:
      return "http and socks on one port, told apart by the first byte";
    case Protocol::relay:
      return "Every connection to one destination";
    case Protocol::sni:
      return "TLS passed through to the server that the client names";
  }
  HEADRACE_ASSERT(false && "a protocol without words");
  return {};
}

std::string address_text_of(Protocol protocol) {
  std::string text =
      "Where to listen: IP:PORT, [IPV6]:PORT, :PORT (all addresses), unix:/PATH or unix:@NAME; "
      "port 0 takes a free one";
  const std::string_view usual = default_address_of(protocol);
  if (!usual.empty()) text += ". Default: " + std::string(usual);
  return text;
}

std::string footer_of(Protocol protocol) {
  const std::string name(name_of(protocol));
  return "Example: " + example_of(protocol) +
         "\n"
         "\n"
         "Each address gets a line on standard error when it is ready, with the port that it got:\n"
         "  listening " +
         name + " 127.0.0.1:3128 listener=" + name +
         " workers=2\n"
         "\n"
         "TERM and INT: listeners close at once, connections go on until they end or\n"
         "drain_timeout is over; a second signal ends at once.\n"
         "\n"
         "Exit codes: 0 ended by a signal, 1 bad configuration or cannot start (the reason is on\n"
         "standard error), 2 wrong usage.";
}

}  // namespace headrace::app
