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

// Counts, logs, answers with `reply` if there is one, and parts.
net::Task<void> refuse(Session& session, Error error, std::string reply, std::string target = {}) {
  session.note_refusal(error, target);
  session.log_access(name_of(error.what));
  if (reply.empty()) co_return;
  session.arm_deadline(session.options().setup_timeout);
  Result<Done> sent = co_await send_to_client(session, std::move(reply));
  if (sent) co_await linger(session);
}

std::string reply5(Errc what) {
  std::string reply;
  socks::append_reply(reply, socks::reply_code_of(what));
  return reply;
}

std::string reply4(socks::ReplyCode4 code) {
  std::string reply;
  socks::append_reply4(reply, code);
  return reply;
}

// What may be said before the name is resolved.
std::optional<Error> judge(Session& session, const Target& target, std::string_view user) {
  access::Verdict verdict =
      session.policy().judge({session.access_client(), user, access::How::socks, target});
  if (verdict.allowed()) return std::nullopt;
  return Error{*verdict.refusal, Side::local};
}

net::Endpoint bound_endpoint(Session& session) {
  return net::local_endpoint(session.upstream->socket.fd()).value_or(net::Endpoint{});
}

// Method negotiation and, where users are configured, RFC 1929. The user's name, or why not.
net::Task<Result<std::string>> authenticate5(Session& session) {
  Result<socks::Greeting> greeting =
      co_await read_message<socks::Greeting>(session, socks::parse_greeting);
  if (!greeting) co_return greeting.error();
  const access::Policy& policy = session.policy();
  auto authentication = policy.needs_credentials() ? socks::Authentication::required
                                                   : socks::Authentication::not_needed;
  socks::Method method = socks::choose_method(*greeting, authentication);
  std::string reply;
  socks::append_method_reply(reply, method);
  if (method == socks::Method::unacceptable) {
    Error error{Errc::unauthorized, Side::client};
    co_await refuse(session, error, std::move(reply));
    co_return error;
  }
  Result<Done> told = co_await send_to_client(session, std::move(reply));
  if (!told) co_return told.error();
  if (method == socks::Method::none) co_return std::string();

  Result<socks::Credentials> credentials =
      co_await read_message<socks::Credentials>(session, socks::parse_credentials);
  if (!credentials) co_return credentials.error();
  bool known = policy.knows(credentials->user, credentials->password);
  if (Account* account = session.account()) account->user = credentials->user;
  std::string verdict;
  socks::append_auth_reply(verdict,
                           known ? socks::AuthResult::accepted : socks::AuthResult::refused);
  if (!known) {
    Error error{Errc::unauthorized, Side::client};
    co_await refuse(session, error, std::move(verdict));
    co_return error;
  }
  Result<Done> accepted = co_await send_to_client(session, std::move(verdict));
  if (!accepted) co_return accepted.error();
  co_return std::move(credentials->user);
}

net::Task<void> serve_socks5(Session& session) {
  session.set_protocol_name("socks5");
  Result<std::string> user = co_await authenticate5(session);
  if (!user) {
    // unauthorized has been answered; what cannot be parsed has no reply in the protocol.
    if (user.error().what != Errc::unauthorized) co_await refuse(session, user.error(), {});
    co_return;
  }
  Result<socks::Request> request =
      co_await read_message<socks::Request>(session, socks::parse_request);
  if (!request) {
    std::string reply =
        request.error().what == Errc::malformed ? reply5(Errc::malformed) : std::string();
    co_await refuse(session, request.error(), std::move(reply));
    co_return;
  }
  if (Account* account = session.account()) account->target = request->asked;
  std::string reply;
  if (request->refusal) {
    socks::append_reply(reply, request->refusal->reply);
    Error error{request->refusal->what, Side::client};
    co_await refuse(session, error, std::move(reply), request->asked);
    co_return;
  }
  if (request->command != socks::Command::connect) {
    socks::append_reply(reply, socks::ReplyCode::command_not_supported);
    Error error{Errc::unsupported, Side::client};
    co_await refuse(session, error, std::move(reply), request->asked);
    co_return;
  }
  std::optional<Error> denied = judge(session, request->target, *user);
  if (denied) {
    reply = reply5(denied->what);
    co_await refuse(session, *denied, std::move(reply), request->asked);
    co_return;
  }
  Result<Done> dialled = co_await dial(session, request->target, access::How::socks, *user);
  if (!dialled) {
    reply = reply5(dialled.error().what);
    co_await refuse(session, dialled.error(), std::move(reply), request->asked);
    co_return;
  }
  net::Endpoint bound = bound_endpoint(session);
  socks::append_reply(reply, socks::ReplyCode::succeeded, bound.address, bound.port);
  session.start_tunnel(reply);
}

net::Task<void> serve_socks4(Session& session) {
  session.set_protocol_name("socks4");
  Result<socks::Request4> request =
      co_await read_message<socks::Request4>(session, socks::parse_request4);
  std::string reply = reply4(socks::ReplyCode4::rejected);
  if (!request) {
    if (request.error().whose != Side::client || request.error().what == Errc::ended) reply.clear();
    co_await refuse(session, request.error(), std::move(reply));
    co_return;
  }
  if (Account* account = session.account()) {
    account->target = request->asked;
    account->user = request->user_id;
  }
  std::optional<Error> denied;
  if (request->refusal)
    denied = Error{*request->refusal, Side::client};
  else if (request->command != socks::Command::connect)
    denied = Error{Errc::unsupported, Side::client};
  else
    denied = judge(session, request->target, {});  // where users are needed, version 4 has none
  if (denied) {
    co_await refuse(session, *denied, std::move(reply), request->asked);
    co_return;
  }
  Result<Done> dialled = co_await dial(session, request->target, access::How::socks, {});
  if (!dialled) {
    co_await refuse(session, dialled.error(), std::move(reply), request->asked);
    co_return;
  }
  net::Endpoint bound = bound_endpoint(session);
  std::string granted;
  socks::append_reply4(granted, socks::ReplyCode4::granted, bound.address, bound.port);
  session.start_tunnel(granted);
}

}  // namespace

net::Task<void> serve_socks(Session& session) {
  session.set_protocol_name("socks");
  session.arm_deadline(session.options().setup_timeout);
  if (!session.policy().may_client_connect(session.access_client())) {
    Error error{Errc::client_denied, Side::local};
    co_await refuse(session, error, {});
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
      Error error{Errc::malformed, Side::client};
      co_await refuse(session, error, {});
    }
  }
}

}  // namespace headrace::session
