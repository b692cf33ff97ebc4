// TLS passed through, without decrypting, to the server that the ClientHello names: the bytes that
// tell it are the first that the server gets, and it answers them.
#include "preface/client_hello.h"
#include "preface/tls_alert.h"
#include "session/proxy_protocol.h"
#include "session/session.h"

namespace headrace::session {
namespace {

using preface::Alert;

// Where a client goes, and as what that is judged.
struct Destination {
  Target target;
  access::How how = access::How::sni;
  std::string server_name = {};  // as it was sent; empty where the client named no server
};

// Why a client does not get there, and how it is told.
struct Refusal {
  Error error;
  std::optional<Alert> alert = {};
  std::string target = {};  // as asked, for the log
};

Alert alert_of(Errc what) {
  switch (what) {
    case Errc::malformed:
    case Errc::too_large:
      return Alert::decode_error;
    case Errc::name_missing:
      return Alert::missing_extension;
    case Errc::client_denied:
    case Errc::unauthorized:
    case Errc::target_denied:
    case Errc::port_denied:
    case Errc::inside_denied:
    case Errc::loop:
    case Errc::name_unknown:
      return Alert::unrecognized_name;
    default:
      return Alert::internal_error;
  }
}

// Counts, logs, tells, and parts.
net::Task<void> refuse(Session& session, Refusal refusal) {
  session.note_refusal(refusal.error, refusal.target);
  session.log_access(name_of(refusal.error.what));
  if (!refusal.alert) co_return;
  std::string alert;
  preface::append_alert(alert, *refusal.alert);
  session.resume_set_up();
  Result<Done> sent = co_await send_to_client(session, std::move(alert));
  if (sent) co_await linger(session);
}

// Leaves all of it in the inbox, for the server.
net::Task<Result<preface::ClientHello>> read_hello(Session& session) {
  using preface::ClientHelloReader;
  ClientHelloReader reader;
  for (;;) {
    Parse<preface::ClientHello> hello = reader.read(session.inbox.bytes());
    if (hello) co_return std::move(*hello);
    if (hello.failed()) co_return Error{hello.error(), Side::client};
    net::IoResult in = session.receive_into_inbox(ClientHelloReader::kReceivedBytesMax);
    if (in.ended()) co_return Error{Errc::ended, Side::client};
    if (in.failed()) co_return in.error(Side::client);
    if (in.moved()) continue;
    Result<Done> woken = co_await session.woken();
    if (!woken) co_return woken.error();
  }
}

// Only whoever speaks TLS is answered in TLS, and not when nobody listens any more.
Refusal refusal_of_hello(Session& session, const Error& error) {
  Refusal refusal{error};
  const ByteSpan received = session.inbox.bytes();
  const bool speaks_tls = !received.empty() && received[0] == preface::kTlsHandshake;
  const bool broken = error.what == Errc::malformed || error.what == Errc::too_large;
  if (speaks_tls && broken) refusal.alert = alert_of(error.what);
  return refusal;
}

// The name, or the default for a client without one. An address is no name (RFC 6066 section 3),
// however it is spelled: servers take no notice of it, and here it leads nowhere either.
Result<Destination> find_destination(const ListenerOptions& options,
                                     const preface::ClientHello& hello) {
  if (hello.server_name) {
    std::optional<Host> host = Host::parse(*hello.server_name);
    if (!host) return Error{Errc::malformed, Side::client};
    if (host->is_name())
      return Destination{{std::move(*host), options.to_port}, access::How::sni, *hello.server_name};
  }
  // The operator's word, as a relay's destination is.
  if (options.to) return Destination{*options.to, access::How::relay};
  return Error{Errc::name_missing, Side::client};
}

// What may be said before the name is resolved.
std::optional<Error> judge(Session& session, const Destination& to) {
  const std::string_view no_user;
  access::Verdict verdict =
      session.policy().judge({session.access_client(), no_user, to.how, to.target});
  if (verdict.allowed()) return std::nullopt;
  return Error{*verdict.refusal, Side::local};
}

void start_passing(Session& session, const Destination& to) {
  // The hello was not received by the tunnel, which counts what it moves itself.
  const size_t hello_bytes = session.inbox.size();
  session.worker().stats.bytes_up.add(hello_bytes);
  if (Account* account = session.account()) account->bytes_up += hello_bytes;
  prepend_proxy_header(session, to.server_name);
  session.start_tunnel({});
}

}  // namespace

net::Task<void> serve_sni(Session& session) {
  session.set_protocol_name("sni");
  if (!session.policy().may_client_connect(session.access_client())) {
    session.note_refusal(Error{Errc::client_denied, Side::local});
    session.log_access(name_of(Errc::client_denied));
    session.end_with_reset();
    co_return;
  }
  Result<preface::ClientHello> hello = co_await read_hello(session);
  if (!hello) {
    Refusal refusal = refusal_of_hello(session, hello.error());
    co_await refuse(session, std::move(refusal));
    co_return;
  }
  const std::string asked = hello->server_name.value_or(std::string());
  Result<Destination> to = find_destination(session.options(), *hello);
  if (Account* account = session.account()) account->target = to ? to->target.to_string() : asked;
  if (!to) {
    const bool is_no_name = to.error().what == Errc::malformed;
    const Alert alert = is_no_name ? Alert::illegal_parameter : alert_of(to.error().what);
    Refusal refusal{to.error(), alert, asked};
    co_await refuse(session, std::move(refusal));
    co_return;
  }
  std::optional<Error> denied = judge(session, *to);
  if (!denied) {
    const std::string_view no_user;
    Result<Done> dialled = co_await dial(session, to->target, to->how, no_user);
    if (!dialled) denied = dialled.error();
  }
  if (denied) {
    Refusal refusal{*denied, alert_of(denied->what), to->target.to_string()};
    co_await refuse(session, std::move(refusal));
    co_return;
  }
  start_passing(session, *to);
}

}  // namespace headrace::session
