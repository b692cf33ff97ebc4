#include "http/answer.h"

#include <iterator>

namespace headrace::http {
namespace {

struct Meaning {
  int status;
  std::string_view proxy_status;
};

// Where it matters whose doing it was: `client`'s, or else (upstream, or ourselves on the way
// there).
struct Row {
  Errc what;
  Meaning client;
  Meaning other;
};

constexpr Row same(Errc what, int status, std::string_view proxy_status) {
  return {what, {status, proxy_status}, {status, proxy_status}};
}

// In the order of Errc. Local shortages are 503: they pass, and another attempt may be served.
constexpr Row kRows[] = {
    {Errc::ended, {400, "http_request_error"}, {502, "http_response_incomplete"}},
    {Errc::reset, {400, "http_request_error"}, {502, "connection_terminated"}},
    {Errc::malformed, {400, "http_request_error"}, {502, "http_protocol_error"}},
    {Errc::unsupported, {501, "http_request_error"}, {502, "http_response_transfer_coding"}},
    {Errc::too_large, {431, "http_request_error"}, {502, "http_response_header_section_size"}},
    {Errc::uri_too_long, {414, "http_request_error"}, {502, "http_protocol_error"}},
    {Errc::timed_out, {408, "http_request_error"}, {504, "connection_read_timeout"}},

    {Errc::cut_short, {400, "http_request_error"}, {502, "connection_terminated"}},
    {Errc::tls_failed, {400, "http_request_error"}, {502, "tls_protocol_error"}},
    {Errc::certificate_refused, {403, "http_request_denied"}, {502, "tls_certificate_error"}},

    same(Errc::unauthorized, 407, "http_request_denied"),
    same(Errc::client_denied, 403, "http_request_denied"),
    same(Errc::target_denied, 403, "http_request_denied"),
    same(Errc::port_denied, 403, "http_request_denied"),
    same(Errc::inside_denied, 403, "destination_ip_prohibited"),
    same(Errc::loop, 508, "proxy_loop_detected"),
    same(Errc::name_missing, 403, "http_request_denied"),
    same(Errc::client_limit, 503, "http_request_denied"),

    same(Errc::handshake_limit, 503, "http_request_denied"),
    same(Errc::name_unknown, 502, "dns_error"),
    same(Errc::name_timed_out, 504, "dns_timeout"),
    same(Errc::name_failed, 502, "dns_error"),
    same(Errc::connect_refused, 502, "connection_refused"),
    same(Errc::connect_timed_out, 504, "connection_timeout"),
    same(Errc::host_unreachable, 502, "destination_ip_unroutable"),
    same(Errc::network_unreachable, 502, "destination_ip_unroutable"),
    same(Errc::family_unsupported, 502, "destination_ip_unroutable"),
    same(Errc::connect_failed, 502, "destination_unavailable"),
    same(Errc::answer_timed_out, 504, "http_response_timeout"),

    same(Errc::out_of_descriptors, 503, "proxy_internal_error"),
    same(Errc::out_of_ports, 503, "proxy_internal_error"),
    same(Errc::out_of_memory, 503, "proxy_internal_error"),
    same(Errc::cancelled, 503, "proxy_internal_error"),
    same(Errc::os_failure, 503, "proxy_internal_error"),
};

constexpr bool rows_stand_in_order() {
  for (size_t i = 0; i < std::size(kRows); ++i)
    if (kRows[i].what != static_cast<Errc>(i)) return false;
  return std::size(kRows) == kErrcCount;
}
static_assert(rows_stand_in_order());

const Meaning& meaning_of(Error error) {
  const Row& row = kRows[static_cast<size_t>(error.what)];
  return error.whose == Side::client ? row.client : row.other;
}

// Details may repeat what a client sent: nothing of it may end a line or a string.
char printable(char c) {
  return c >= 0x20 && c < 0x7f ? c : '?';
}

void append_text(std::string_view text, std::string& out) {
  for (char c : text) out += printable(c);
}

// A string of structured fields (RFC 8941 section 3.3.3).
void append_quoted(std::string_view text, std::string& out) {
  out += '"';
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += printable(c);
  }
  out += '"';
}

}  // namespace

int status_of(Error error) {
  return meaning_of(error).status;
}

std::string_view proxy_status_of(Error error) {
  return meaning_of(error).proxy_status;
}

std::string_view reason_phrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 407:
      return "Proxy Authentication Required";
    case 408:
      return "Request Timeout";
    case 414:
      return "URI Too Long";
    case 431:
      return "Request Header Fields Too Large";
    case 501:
      return "Not Implemented";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 508:
      return "Loop Detected";
    default:
      return "";
  }
}

void append_error_page(const ErrorPage& page, std::string& out) {
  const Meaning& meaning = meaning_of(page.error);
  const std::string_view details = page.details.empty() ? describe(page.error.what) : page.details;

  std::string status_and_reason = std::to_string(meaning.status);
  (status_and_reason += ' ') += reason_phrase(meaning.status);
  std::string body = status_and_reason + ": ";
  append_text(details, body);
  body += '\n';

  (out += "HTTP/1.1 ") += status_and_reason;
  out += "\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ";
  out += std::to_string(body.size());
  out += "\r\nCache-Control: no-store\r\nProxy-Status: headrace; error=";
  out += meaning.proxy_status;
  out += "; details=";
  append_quoted(details, out);
  if (meaning.status == 407)
    out += "\r\nProxy-Authenticate: Basic realm=\"headrace\", charset=\"UTF-8\"";
  if (page.close) out += "\r\nConnection: close";
  out += "\r\n\r\n";
  if (!page.omit_body) out += body;
}

}  // namespace headrace::http
