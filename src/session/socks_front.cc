// The SOCKS front end: versions 4, 4a and 5, each message read whole at any segmentation, what
// follows the last one left for the tunnel.
#include "session/session.h"
#include "socks/socks4.h"
#include "socks/socks5.h"

namespace headrace::session {
namespace {

// Longer than any message of a client; a parser that still wants more has refused by then.
constexpr size_t kMessageBytesMax = 1024;

// Reads the next message. Bytes behind it stay in the inbox.
template <class T>
net::Task<Result<T>> read_message(Session& session, Parse<T> (*parse)(ByteSpan)) {
  for (;;) {
    Parse<T> parsed = parse(session.inbox.bytes());
    if (parsed) {
      session.inbox.consume(parsed.consumed_bytes());
      co_return std::move(*parsed);
    }
    if (parsed.failed()) co_return Error{parsed.error(), Side::client};
    if (session.inbox.size() >= kMessageBytesMax) co_return Error{Errc::too_large, Side::client};
    net::IoResult in = session.receive_into_inbox(relay::Mover::kScratchBytes);
    if (in.ended()) co_return Error{Errc::ended, Side::client};
    if (in.failed()) co_return in.error(Side::client);
    if (in.moved()) continue;
    Result<Done> woken = co_await session.woken();
    if (!woken) co_return woken.error();
  }
}

// Why a client gets no tunnel, and how it is told.
struct Refusal {
  Error error;
  std::string reply = {};   // empty where the protocol has no message for it
  std::string target = {};  // as asked, for the log
};

// Counts, logs, answers, and parts.
net::Task<void> refuse(Session& session, Refusal refusal) {
  session.note_refusal(refusal.error, refusal.target);
  session.log_access(name_of(refusal.error.what));
  if (refusal.reply.empty()) co_return;
  session.resume_set_up();
  Result<Done> sent = co_await send_to_client(session, std::move(refusal.reply));
  if (sent) co_await linger(session);
}

Refusal refusal5(Error error, socks::ReplyCode code, std::string_view target = {}) {
  Refusal refusal{error};
  socks::append_reply(refusal.reply, code);
  refusal.target = target;
  return refusal;
}

Refusal refusal5(Error error, std::string_view target = {}) {
  return refusal5(error, socks::reply_code_of(error.what), target);
}

Refusal refusal4(Error error, std::string_view target = {}) {
  Refusal refusal{error};
  socks::append_reply4(refusal.reply, socks::ReplyCode4::rejected);
  refusal.target = target;
  return refusal;
}

// What may be said before the name is resolved.
std::optional<Error> judge(Session& session, const Target& target, std::string_view user) {
  access::Verdict verdict =
      session.policy().judge({session.access_client(), user, access::How::socks, target});
  if (verdict.allowed()) return std::nullopt;
  return Error{*verdict.refusal, Side::local};
}

// The same for what the request itself says.
std::optional<Refusal> find_fault(Session& session, const socks::Request& request,
                                  std::string_view user) {
  if (request.refusal)
    return refusal5(Error{request.refusal->what, Side::client}, request.refusal->reply,
                    request.asked);
  if (request.command != socks::Command::connect)
    return refusal5(Error{Errc::unsupported, Side::client}, socks::ReplyCode::command_not_supported,
                    request.asked);
  if (std::optional<Error> denied = judge(session, request.target, user))
    return refusal5(*denied, request.asked);
  return std::nullopt;
}

std::optional<Refusal> find_fault(Session& session, const socks::Request4& request) {
  if (request.refusal) return refusal4(Error{*request.refusal, Side::client}, request.asked);
  if (request.command != socks::Command::connect)
    return refusal4(Error{Errc::unsupported, Side::client}, request.asked);
  // Version 4 proves no user, so where users are needed this refuses.
  if (std::optional<Error> denied = judge(session, request.target, {}))
    return refusal4(*denied, request.asked);
  return std::nullopt;
}

net::Endpoint bound_endpoint(Session& session) {
  return net::local_endpoint(session.upstream->socket.fd()).value_or(net::Endpoint{});
}

// Method negotiation and, where users are configured, RFC 1929. The user's name; or nothing, the
// client having been refused.
net::Task<std::optional<std::string>> authenticate5(Session& session) {
  Result<socks::Greeting> greeting =
      co_await read_message<socks::Greeting>(session, socks::parse_greeting);
  if (!greeting) {
    Refusal refusal{greeting.error()};  // nothing was agreed upon that a reply could be part of
    co_await refuse(session, std::move(refusal));
    co_return std::nullopt;
  }
  const access::Policy& policy = session.policy();
  auto authentication = policy.needs_credentials() ? socks::Authentication::required
                                                   : socks::Authentication::not_needed;
  socks::Method method = socks::choose_method(*greeting, authentication);
  std::string reply;
  socks::append_method_reply(reply, method);
  if (method == socks::Method::unacceptable) {
    Refusal refusal{Error{Errc::unauthorized, Side::client}, std::move(reply)};
    co_await refuse(session, std::move(refusal));
    co_return std::nullopt;
  }
  Result<Done> told = co_await send_to_client(session, std::move(reply));
  if (!told) co_return std::nullopt;
  if (method == socks::Method::none) co_return std::string();

  Result<socks::Credentials> credentials =
      co_await read_message<socks::Credentials>(session, socks::parse_credentials);
  if (!credentials) {
    Refusal refusal{credentials.error()};
    co_await refuse(session, std::move(refusal));
    co_return std::nullopt;
  }
  bool known = policy.knows(credentials->user, credentials->password);
  if (Account* account = session.account()) account->user = credentials->user;
  std::string verdict;
  socks::append_auth_reply(verdict,
                           known ? socks::AuthResult::accepted : socks::AuthResult::refused);
  if (!known) {
    Refusal refusal{Error{Errc::unauthorized, Side::client}, std::move(verdict)};
    co_await refuse(session, std::move(refusal));
    co_return std::nullopt;
  }
  Result<Done> accepted = co_await send_to_client(session, std::move(verdict));
  if (!accepted) co_return std::nullopt;
  co_return std::move(credentials->user);
}

net::Task<void> serve_socks5(Session& session) {
  session.set_protocol_name("socks5");
  std::optional<std::string> user = co_await authenticate5(session);
  if (!user) co_return;
  Result<socks::Request> request =
      co_await read_message<socks::Request>(session, socks::parse_request);
  if (!request) {
    Refusal refusal{request.error()};
    if (request.error().what == Errc::malformed) refusal = refusal5(request.error());
    co_await refuse(session, std::move(refusal));
    co_return;
  }
  if (Account* account = session.account()) account->target = request->asked;
  std::optional<Refusal> fault = find_fault(session, *request, *user);
  if (fault) {
    co_await refuse(session, std::move(*fault));
    co_return;
  }
  Result<Done> dialled = co_await dial(session, request->target, access::How::socks, *user);
  if (!dialled) {
    Refusal refusal = refusal5(dialled.error(), request->asked);
    co_await refuse(session, std::move(refusal));
    co_return;
  }
  net::Endpoint bound = bound_endpoint(session);
  std::string reply;
  socks::append_reply(reply, socks::ReplyCode::succeeded, bound.address, bound.port);
  session.start_tunnel(reply);
}

net::Task<void> serve_socks4(Session& session) {
  session.set_protocol_name("socks4");
  Result<socks::Request4> request =
      co_await read_message<socks::Request4>(session, socks::parse_request4);
  if (!request) {
    bool told = request.error().whose == Side::client && request.error().what != Errc::ended;
    Refusal refusal{request.error()};
    if (told) refusal = refusal4(request.error());
    co_await refuse(session, std::move(refusal));
    co_return;
  }
  if (Account* account = session.account()) {
    account->target = request->asked;
    account->user = request->user_id;
  }
  std::optional<Refusal> fault = find_fault(session, *request);
  if (fault) {
    co_await refuse(session, std::move(*fault));
    co_return;
  }
  const std::string_view no_user;
  Result<Done> dialled = co_await dial(session, request->target, access::How::socks, no_user);
  if (!dialled) {
    Refusal refusal = refusal4(dialled.error(), request->asked);
    co_await refuse(session, std::move(refusal));
    co_return;
  }
  net::Endpoint bound = bound_endpoint(session);
  std::string reply;
  socks::append_reply4(reply, socks::ReplyCode4::granted, bound.address, bound.port);
  session.start_tunnel(reply);
}

}  // namespace

net::Task<void> serve_socks(Session& session) {
  session.set_protocol_name("socks");
  if (!session.policy().may_client_connect(session.access_client())) {
    Refusal refusal{Error{Errc::client_denied, Side::local}};
    co_await refuse(session, std::move(refusal));
    co_return;
  }
  while (session.inbox.empty()) {
    net::IoResult in = session.receive_into_inbox(relay::Mover::kScratchBytes);
    if (in.ended() || in.failed()) co_return;
    if (in.moved()) break;
    Result<Done> woken = co_await session.woken();
    if (!woken) {
      session.note_refusal(woken.error());
      co_return;
    }
  }
  switch (session.inbox.bytes()[0]) {
    case socks::kVersion5:
      co_await serve_socks5(session);
      break;
    case socks::kVersion4:
      co_await serve_socks4(session);
      break;
    default: {
      Refusal refusal{Error{Errc::malformed, Side::client}};
      co_await refuse(session, std::move(refusal));
    }
  }
}

}  // namespace headrace::session
