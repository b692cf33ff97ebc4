// The phases that all fronts share: which front, dialling, sending an answer, parting from a
// client.
#include "session/dialer.h"
#include "session/proxy_protocol.h"
#include "session/session.h"
#include "socks/command.h"

namespace headrace::session {
namespace {

// A client that got its last answer has so long to read it and close when its kernel has taken all
// of the answer, and so long in all where that takes longer, on a slow link. What it sends
// meanwhile is thrown away, up to a limit.
constexpr net::Duration kLingerTime = std::chrono::seconds(1);
constexpr net::Duration kLingerTimeMax = std::chrono::seconds(15);
constexpr uint64_t kLingerBytesMax = 4 * 1024 * 1024;
// How often to look whether an answer has arrived: the kernel does not tell.
constexpr net::Duration kArrivalPeriod = std::chrono::milliseconds(100);

// HTTP and SOCKS on one port are told apart by the first byte: no method begins with 4 or 5.
bool is_socks_version(uint8_t first_byte) {
  return first_byte == socks::kVersion4 || first_byte == socks::kVersion5;
}

// A client that may not use a relay is reset without a word, before a TLS handshake is spent on it.
bool may_come(Session& session) {
  if (session.policy().may_client_connect(session.access_client())) return true;
  session.set_protocol_name("relay");
  const std::string target = session.options().to->to_string();
  if (Account* account = session.account()) account->target = target;
  session.note_refusal(Error{Errc::client_denied, Side::local}, target);
  session.log_access(name_of(Errc::client_denied));
  session.end_with_reset();
  return false;
}

}  // namespace

net::Task<void> serve(Session& session) {
  Protocol protocol = session.options().protocol;
  session.begin_set_up();
  if (!session.options().accept_proxy_protocol.empty()) {
    session.set_resting(true);
    Result<Done> introduced = co_await read_proxy_header(session);
    if (!introduced) co_return;
    session.set_resting(false);
  }
  if (protocol == Protocol::relay && !may_come(session)) co_return;
  if (session.options().tls.enabled()) {
    bool stands = co_await accept_tls(session);
    if (!stands) co_return;
  }
  if (protocol == Protocol::relay) {
    co_await serve_relay(session);
    co_return;
  }
  if (protocol == Protocol::sni) {
    co_await serve_sni(session);
    co_return;
  }
  session.set_resting(true);
  while (protocol == Protocol::mixed) {
    if (!session.inbox.empty()) {
      protocol = is_socks_version(session.inbox.bytes()[0]) ? Protocol::socks : Protocol::http;
      break;
    }
    net::IoResult in = session.receive_into_inbox(relay::Mover::kScratchBytes);
    if (in.ended() || in.failed()) co_return;
    if (in.moved()) continue;
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
  session.pause_set_up();  // the dialer and the resolver have limits of their own
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
  const net::Loop& loop = session.worker().loop;
  const net::Instant limit = loop.now() + kLingerTimeMax;
  session.arm_deadline(kLingerTime);
  uint64_t discarded_bytes = 0;
  while (discarded_bytes < kLingerBytesMax) {
    if (!told) told = session.client().shut_writes();
    net::IoResult in = session.client().receive(session.worker().mover.scratch());
    if (in.ended() || in.failed()) co_return;
    discarded_bytes += in.bytes;
    // A client that sends without a pause leaves the others their turn.
    if (in.moved() && session.client().readable()) session.run_again();
    Result<Done> woken = co_await session.woken();
    if (woken) continue;
    bool arrived = session.client().unacknowledged_bytes() == 0;
    bool over = arrived || loop.now() >= limit || woken.error().what != Errc::timed_out;
    if (over) co_return;
    session.arm_deadline(kLingerTime);
  }
}

net::Task<void> await_arrival(Session& session) {
  const net::Loop& loop = session.worker().loop;
  const net::Instant limit = loop.now() + kLingerTime;
  while (session.client().unacknowledged_bytes() != 0 && loop.now() < limit) {
    session.arm_deadline(kArrivalPeriod);
    Result<Done> woken = co_await session.woken();
    bool goes_on = woken || woken.error().what == Errc::timed_out;
    if (!goes_on || session.client().faulty()) break;
  }
  session.disarm_deadline();
}

// A relay has its destination from the operator and asks its client nothing.
net::Task<void> serve_relay(Session& session) {
  session.set_protocol_name("relay");
  const Target& target = *session.options().to;
  if (Account* account = session.account()) account->target = target.to_string();
  const std::string_view no_user;
  Result<Done> dialled = co_await dial(session, target, access::How::relay, no_user);
  std::string_view details;
  const bool to_tls = session.options().to_tls.enabled;
  if (dialled && to_tls) dialled = send_proxy_header(session);
  if (dialled && to_tls) dialled = co_await connect_tls(session, target, details);
  if (!dialled) {
    session.note_refusal(dialled.error(), target.to_string(), details);
    session.log_access(name_of(dialled.error().what));
    session.end_with_reset();
    co_return;
  }
  const std::string_view no_name;
  if (!to_tls) prepend_proxy_header(session, no_name);
  session.start_tunnel({});
}

}  // namespace headrace::session
