#include "session/http_request.h"

#include <algorithm>

#include "base/text.h"
#include "http/authorization.h"
#include "http/connection.h"
#include "http/head.h"
#include "http/rewrite.h"
#include "http/target_form.h"

namespace headrace::session {
namespace {

constexpr std::string_view kThisIsAProxy =
    "this is a proxy, not an origin server: configure it as your HTTP proxy and ask for "
    "http://HOST/PATH";
constexpr std::string_view kUseConnect =
    "this proxy forwards http:// URIs; for other schemes, such as https, ask for a tunnel with "
    "CONNECT";

using MaybeRefusal = std::optional<HttpRefusal>;

HttpRefusal refusal(Error error, std::string_view details = {}) {
  HttpRefusal refusal{error};
  refusal.details = details;
  return refusal;
}

// A target that is not understood may carry credentials wherever its sender took an authority to
// be, and no log should keep them. They end with an '@', or one that was escaped.
std::string without_credentials(std::string_view target) {
  constexpr std::string_view kEscaped = "%40";
  size_t end = 0;
  if (size_t at = target.rfind('@'); at != std::string_view::npos) end = at + 1;
  if (size_t at = target.rfind(kEscaped); at != std::string_view::npos)
    end = std::max(end, at + kEscaped.size());
  if (end == 0) return std::string(target);
  return "(redacted)@" + std::string(target.substr(end));
}

// NTLM and Negotiate authenticate the connection, not the request.
bool binds_connection(const http::RequestHead& head) {
  for (const http::Field& field : head.fields) {
    if (!equals_ignoring_case(field.name, "authorization")) continue;
    std::string_view scheme = field.value.substr(0, field.value.find(' '));
    if (equals_ignoring_case(scheme, "NTLM") || equals_ignoring_case(scheme, "Negotiate"))
      return true;
  }
  return false;
}

// Who asks, and may he? Fills request.user.
MaybeRefusal authenticate(Session& session, const http::RequestHead& head, HttpRequest& request) {
  if (!session.policy().may_client_connect(session.access_client()))
    return refusal(Error{Errc::client_denied, Side::local});
  if (!session.policy().needs_credentials()) return std::nullopt;
  Result<http::Credentials> credentials =
      http::proxy_credentials(head, session.worker().credentials_text);
  if (!credentials) return refusal(credentials.error());
  if (Account* account = session.account()) account->user = credentials->user;
  if (!session.policy().knows(credentials->user, credentials->password))
    return refusal(Error{Errc::unauthorized, Side::client});
  request.user = credentials->user;
  return std::nullopt;
}

MaybeRefusal judge(Session& session, const http::RequestHead& head, HttpRequest& request) {
  if (http::came_through_us(head, session.worker().via_id))
    return refusal(Error{Errc::loop, Side::client});
  access::How how =
      request.kind == HttpRequest::Kind::connect ? access::How::connect : access::How::forward;
  access::Verdict verdict =
      session.policy().judge({session.access_client(), request.user, how, request.target});
  if (!verdict.allowed()) return refusal(Error{*verdict.refusal, Side::local});
  return std::nullopt;
}

MaybeRefusal find_target(Session& session, const http::RequestHead& head,
                         http::RequestTarget& target, HttpRequest& request) {
  using Form = http::RequestTarget::Form;
  Result<http::RequestTarget> parsed = http::request_target(head);
  if (!parsed) {
    bool other_scheme = parsed.error().what == Errc::unsupported;
    return refusal(parsed.error(), other_scheme ? kUseConnect : std::string_view());
  }
  target = std::move(*parsed);
  if (target.form == Form::origin || target.form == Form::asterisk)
    return refusal(Error{Errc::malformed, Side::client}, kThisIsAProxy);
  // As asked: user information is none of what is understood.
  if (Account* account = session.account()) account->target = head.target;
  if (target.form == Form::authority) request.kind = HttpRequest::Kind::connect;
  request.target = target.target;
  return std::nullopt;
}

// From views into the worker's buffer to a request that stands by itself. Nothing may wait in here.
MaybeRefusal understand(Session& session, const http::RequestHead& head, HttpRequest& request) {
  request.method = head.method;
  request.minor_version = head.minor_version;
  if (Account* account = session.account()) {
    account->method = head.method;
    account->target = without_credentials(head.target);
  }
  Result<http::BodyLength> body = http::request_body(head);
  if (!body) return refusal(body.error());
  request.body = *body;
  Result<http::ConnectionOptions> connection = http::connection_options(head);
  if (!connection) return refusal(connection.error());
  request.persistent = connection->persistent && !body->ends_connection;
  request.upgrade = connection->upgrade;
  request.drops_trailer = connection->nominated_count > 0;

  http::RequestTarget target{};
  if (MaybeRefusal refused = find_target(session, head, target, request)) return refused;
  if (MaybeRefusal refused = authenticate(session, head, request)) return refused;
  if (MaybeRefusal refused = judge(session, head, request)) return refused;
  if (request.kind == HttpRequest::Kind::connect) return std::nullopt;
  if (http::must_stop_here(head)) {
    request.kind = HttpRequest::Kind::answer_here;
    return std::nullopt;
  }
  request.binds_connection = binds_connection(head);
  // Little is added but Via, so that it is made without growing.
  constexpr size_t kAddedBytes = 64;
  request.head.reserve(request.head_bytes + session.worker().via_id.size() + kAddedBytes);
  http::append_request_head({head, target, *connection, request.body, session.worker().via_id},
                            request.head);
  return std::nullopt;
}

// A refusal leaves the connection usable where nothing of the request is still to come.
MaybeRefusal finish_refusal(MaybeRefusal refused, const HttpRequest& request) {
  if (!refused) return refused;
  refused->head_only = request.method == "HEAD";
  if (request.target.port != 0) refused->target = request.target.to_string();
  bool whole = request.body.kind == http::BodyLength::Kind::none;
  bool readable =
      refused->error.what != Errc::malformed && refused->error.what != Errc::unsupported;
  refused->may_continue = whole && readable && request.persistent &&
                          request.kind == HttpRequest::Kind::forward && request.method != "CONNECT";
  return refused;
}

// Parses what has come. nullopt with `done` unset: more is needed.
MaybeRefusal parse(Session& session, std::string_view bytes, http::HeadCursor& cursor,
                   HttpRequest& request, bool& done) {
  http::RequestHead& head = session.worker().request_head;
  http::HeadParse parsed = http::parse_request_head(bytes, cursor, head);
  if (parsed.failed()) return refusal(Error{parsed.error(), Side::client});
  if (!parsed) return std::nullopt;
  done = true;
  request.head_bytes = parsed.consumed_bytes();
  MaybeRefusal refused = understand(session, head, request);
  return finish_refusal(std::move(refused), request);
}

// The connection gave no more. Before the first byte of a request that is no fault of anyone.
HttpRefusal no_request(Session& session, Error error) {
  HttpRefusal refusal{error};
  refusal.silent = session.inbox.empty() || error.what == Errc::reset;
  if (error.what == Errc::ended) refusal.error.what = Errc::malformed;  // 400: cut short
  return refusal;
}

}  // namespace

bool HttpRequest::retriable() const {
  return body.kind == http::BodyLength::Kind::none && http::is_idempotent(method);
}

net::Task<std::optional<HttpRefusal>> read_request(Session& session, HttpRequest& request) {
  http::HeadCursor cursor;
  bool done = false;
  if (!session.inbox.empty()) {
    MaybeRefusal refused = parse(session, as_text(session.inbox.bytes()), cursor, request, done);
    if (done) session.inbox.consume(request.head_bytes);
    if (done || refused) co_return refused;
  }
  for (;;) {
    MutableByteSpan buffer = session.worker().mover.scratch();
    net::IoResult in = session.client().receive(buffer);
    if (in.ended()) co_return no_request(session, Error{Errc::ended, Side::client});
    if (in.failed()) co_return no_request(session, in.error(Side::client));
    if (in.blocked()) {
      Result<Done> woken = co_await session.woken();
      if (!woken) co_return no_request(session, woken.error());
      continue;
    }
    ByteSpan received = buffer.first(in.bytes);
    bool in_one_piece = session.inbox.empty();
    if (!in_one_piece) session.inbox.append(received);
    ByteSpan all = in_one_piece ? received : session.inbox.bytes();
    MaybeRefusal refused = parse(session, as_text(all), cursor, request, done);
    if (!done) {
      if (in_one_piece) session.inbox.append(received);
      if (refused) co_return refused;
      continue;
    }
    if (in_one_piece)
      session.inbox.append(received.subspan(request.head_bytes));
    else
      session.inbox.consume(request.head_bytes);
    co_return refused;
  }
}

}  // namespace headrace::session
