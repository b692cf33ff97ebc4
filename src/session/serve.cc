// The phases that all fronts share: which front, dialling, sending an answer, parting from a
// client.
#include "session/dialer.h"
#include "session/session.h"
#include "socks/command.h"

namespace headrace::session {
namespace {

// How long, and how much, a client that was answered with a refusal may go on sending.
constexpr net::Duration kLingerTime = std::chrono::seconds(1);
constexpr uint64_t kLingerBytesMax = 4 * 1024 * 1024;

// HTTP and SOCKS on one port are told apart by the first byte: no method begins with 4 or 5.
bool is_socks_version(uint8_t first_byte) {
  return first_byte == socks::kVersion4 || first_byte == socks::kVersion5;
}

}  // namespace

net::Task<void> serve(Session& session) {
  if (session.options().tls.enabled()) {
    bool stands = co_await accept_tls(session);
    if (!stands) co_return;
  }
  Protocol protocol = session.options().protocol;
  if (protocol == Protocol::relay) {
    co_await serve_relay(session);
    co_return;
  }
  session.set_resting(true);
  session.arm_deadline(session.options().setup_timeout);
  while (protocol == Protocol::mixed) {
    net::IoResult in = session.receive_into_inbox(relay::Mover::kScratchBytes);
    if (in.ended() || in.failed()) co_return;
    if (in.moved()) {
      protocol = is_socks_version(session.inbox.bytes()[0]) ? Protocol::socks : Protocol::http;
      break;
    }
    Result<Done> woken = co_await session.woken();
    if (!woken) co_return;
  }
  if (protocol == Protocol::socks) {
    session.set_resting(false);
    co_await serve_socks(session);
  } else {
    co_await serve_http(session);
  }
}

net::Task<Result<Done>> dial(Session& session, const Target& target, access::How how,
                             std::string_view user) {
  session.disarm_deadline();  // the dialer and the resolver have limits of their own
  Dialer dialer(session.worker(), session,
                DialOptions{target, session.policy(), session.access_client(), user, how,
                            session.options().source, session.options().connect_timeout});
  while (!dialer.finished()) {
    Result<Done> woken = co_await session.woken();
    if (!woken) co_return woken.error();
    if (session.client().faulty()) co_return Error{Errc::reset, Side::client};
  }
  Result<std::unique_ptr<Upstream>> upstream = dialer.take_result();
  if (!upstream) co_return upstream.error();
  session.upstream = std::move(*upstream);
  session.upstream->socket.set_owner(session);
  if (Account* account = session.account()) account->dialled = session.upstream->address;
  co_return Done{};
}

net::Task<Result<Done>> send_to_client(Session& session, std::string text) {
  ByteSpan rest = as_bytes(text);
  while (!rest.empty()) {
    net::IoResult out = session.client().send(rest);
    if (out.failed()) co_return out.error(Side::client);
    if (out.moved()) rest = rest.subspan(out.bytes);
    if (rest.empty()) break;
    Result<Done> woken = co_await session.woken();
    if (!woken) co_return woken.error();
  }
  co_return Done{};
}

net::Task<void> linger(Session& session) {
  bool told = session.client().shut_writes();
  session.arm_deadline(kLingerTime);
  uint64_t discarded_bytes = 0;
  while (discarded_bytes < kLingerBytesMax) {
    if (!told) told = session.client().shut_writes();
    net::IoResult in = session.client().receive(session.worker().mover.scratch());
    if (in.ended() || in.failed()) co_return;
    discarded_bytes += in.bytes;
    if (!in.blocked()) continue;
    Result<Done> woken = co_await session.woken();
    if (!woken) co_return;
  }
}

// A relay has its destination from the operator and asks its client nothing.
net::Task<void> serve_relay(Session& session) {
  session.set_protocol_name("relay");
  const Target& target = *session.options().to;
  if (Account* account = session.account()) account->target = target.to_string();
  if (!session.policy().may_client_connect(session.access_client())) {
    session.note_refusal(Error{Errc::client_denied, Side::local}, target.to_string());
    session.end_with_reset();
    co_return;
  }
  const std::string_view no_user;
  Result<Done> dialled = co_await dial(session, target, access::How::relay, no_user);
  std::string_view details;
  if (dialled && session.options().to_tls.enabled)
    dialled = co_await connect_tls(session, target, details);
  if (!dialled) {
    session.note_refusal(dialled.error(), target.to_string(), details);
    session.log_access(name_of(dialled.error().what));
    session.end_with_reset();
    co_return;
  }
  session.start_tunnel({});
}

}  // namespace headrace::session
