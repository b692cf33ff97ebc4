// The HTTP front end: requests of one client, one after the other, each answered by its origin, by
// a tunnel or by ourselves.
#include "http/answer.h"
#include "session/http_exchange.h"
#include "session/http_request.h"
#include "session/session.h"

namespace headrace::session {
namespace {

enum class Next : uint8_t { another_request, end };

// Answers in the place of the origin.
net::Task<Next> refuse(Session& session, HttpRefusal refusal) {
  if (refusal.silent) co_return Next::end;
  session.note_refusal(refusal.error, refusal.target);
  if (Account* account = session.account()) account->status = http::status_of(refusal.error);
  session.log_access(name_of(refusal.error.what));
  bool close = !refusal.may_continue || session.draining();
  std::string page;
  http::append_error_page({refusal.error, refusal.details, close, refusal.head_only}, page);
  session.resume_set_up();
  Result<Done> sent = co_await send_to_client(session, std::move(page));
  if (!sent) co_return Next::end;
  if (!close) co_return Next::another_request;
  co_await linger(session);
  co_return Next::end;
}

HttpRefusal refusal_of(const HttpRequest& request, Error error) {
  HttpRefusal refusal{error};
  refusal.target = request.target.to_string();
  refusal.head_only = request.method == "HEAD";
  refusal.may_continue = request.kind == HttpRequest::Kind::forward && request.persistent &&
                         request.body.kind == http::BodyLength::Kind::none;
  return refusal;
}

net::Task<Next> open_tunnel(Session& session, HttpRequest& request) {
  Result<Done> dialled = co_await dial(session, request.target, access::How::connect, request.user);
  if (!dialled) {
    HttpRefusal refusal = refusal_of(request, dialled.error());
    Next next = co_await refuse(session, std::move(refusal));
    co_return next;
  }
  if (Account* account = session.account()) account->status = 200;
  session.start_tunnel(http::kTunnelEstablished);
  co_return Next::end;
}

// OPTIONS and TRACE with Max-Forwards: 0 (RFC 9110 section 7.6.2).
net::Task<Next> answer_here(Session& session, HttpRequest& request) {
  if (request.method != "OPTIONS" || request.body.kind != http::BodyLength::Kind::none) {
    HttpRefusal refusal{Error{Errc::unsupported, Side::client}};
    Next next = co_await refuse(session, std::move(refusal));
    co_return next;
  }
  if (Account* account = session.account()) account->status = 200;
  session.log_access("ok");
  std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n";
  if (!request.persistent) answer += "Connection: close\r\n";
  answer += "\r\n";
  Result<Done> sent = co_await send_to_client(session, std::move(answer));
  co_return sent&& request.persistent ? Next::another_request : Next::end;
}

// A kept connection to that origin: the client's own, or one from the pool. An address that this
// client may not reach is not reached through a kept connection either.
std::unique_ptr<Upstream> find_kept(Session& session, const HttpRequest& request) {
  Worker& worker = session.worker();
  make_origin_key(request.target, session.options().source, worker.key_text);
  if (std::unique_ptr<Upstream> own = std::move(session.upstream)) {
    bool same = own->origin && own->origin->key == worker.key_text;
    if (same && own->is_quiet()) return own;
  }
  std::unique_ptr<Upstream> kept = worker.pool.lease(worker.key_text);
  if (!kept) return nullptr;
  access::Verdict verdict =
      session.policy().judge({session.access_client(), request.user, access::How::forward,
                              request.target, kept->address.address});
  if (!verdict.allowed()) return nullptr;
  return kept;
}

net::Task<Result<Done>> obtain_upstream(Session& session, HttpRequest& request, bool fresh) {
  if (!fresh) session.upstream = find_kept(session, request);
  if (session.upstream && !fresh) {
    session.upstream->socket.set_owner(session);
    if (Account* account = session.account()) account->dialled = session.upstream->address;
    co_return Done{};
  }
  session.upstream.reset();
  Result<Done> dialled = co_await dial(session, request.target, access::How::forward, request.user);
  if (!dialled) co_return dialled.error();
  make_origin_key(request.target, session.options().source, session.worker().key_text);
  session.worker().pool.adopt(*session.upstream, session.worker().key_text);
  co_return Done{};
}

// Runs the exchange until it stops waiting, under the limits for silence: answer_timeout up to the
// first byte of the answer, idle_timeout from then on. Interim answers are signs of life (102 was
// made to be one, RFC 2518 section 10.1), but a final answer has to come: when nothing else has
// moved for idle_timeout they count no more.
net::Task<Exchange::State> run_exchange(Session& session, Exchange& exchange) {
  net::Instant last_moved = session.worker().loop.now();
  for (;;) {
    bool answering = exchange.answered();
    uint64_t moved_bytes = exchange.moved_bytes();
    uint64_t interim_answers = exchange.interim_answers();
    session.arm_deadline(answering ? session.options().idle_timeout
                                   : session.options().answer_timeout);
    for (;;) {
      Exchange::State state = exchange.step();
      if (state == Exchange::State::again)
        session.run_again();
      else if (state == Exchange::State::parked)
        session.run_late();
      else if (state != Exchange::State::waiting)
        co_return state;
      if (exchange.answered() != answering) break;
      Result<Done> woken = co_await session.woken();
      if (woken) continue;
      // Silence counts from the last byte, not from when the timer was armed.
      bool timed_out = woken.error().what == Errc::timed_out;
      net::Instant now = session.worker().loop.now();
      bool moved = exchange.moved_bytes() != moved_bytes;
      if (moved) last_moved = now;
      bool alive = exchange.interim_answers() != interim_answers &&
                   last_moved + session.options().idle_timeout > now;
      if (timed_out && (moved || alive)) break;
      Errc what = timed_out ? Errc::answer_timed_out : woken.error().what;
      exchange.give_up(Error{what, answering ? Side::local : Side::upstream});
      co_return Exchange::State::failed;
    }
  }
}

void note_exchange(Session& session, const Exchange& exchange, std::string_view result) {
  session.worker().stats.bytes_up.add(exchange.up_bytes());
  session.worker().stats.bytes_down.add(exchange.down_bytes());
  Account* account = session.account();
  if (!account) return;
  account->bytes_up = exchange.up_bytes();
  account->bytes_down = exchange.down_bytes();
  account->spliced = exchange.has_spliced();
  account->status = exchange.status();
  // What becomes a tunnel is logged at the tunnel's end.
  if (!result.empty()) session.log_access(result);
}

// After a complete answer: where the upstream goes.
void part_from_upstream(Session& session, Exchange& exchange) {
  Upstream& upstream = *session.upstream;
  if (exchange.binds_connection()) upstream.bound_to_client = true;
  if (!exchange.upstream_persists()) {
    session.upstream.reset();
  } else if (upstream.bound_to_client) {
    upstream.reused = true;  // stays the client's own
  } else {
    session.worker().pool.give_back(std::move(session.upstream),
                                    session.options().keepalive_timeout);
  }
}

// What the client has sent and nobody read would turn our close into a reset, which destroys what
// is still under way of the answer. So would what a client sends later that did not ask for the end
// and has not read yet that it comes.
bool may_leave_bytes_unread(Session& session, const HttpRequest& request,
                            const Exchange& exchange) {
  // TLS has its close_notify to send, and the client one to answer with.
  return request.persistent || !exchange.request_finished() || session.client().readable() ||
         !session.inbox.empty() || session.client().layer();
}

std::string result_name(const Error& error) {
  return std::string(name_of(error.whose)) + "_" + std::string(name_of(error.what));
}

// An exchange that did not come to its end: an answer that has begun is cut, with a reset;
// otherwise the client is told.
net::Task<Next> end_broken(Session& session, const HttpRequest& request, Exchange& exchange) {
  Error error = exchange.error();
  session.upstream->socket.reset();
  bool cuts_the_client = exchange.cuts_the_client();
  exchange.abandon();  // telling the client may take a while
  bool client_gone = error.whose == Side::client && error.what == Errc::reset;
  if (cuts_the_client || client_gone || error.what == Errc::cancelled) {
    session.worker().stats.refused[static_cast<size_t>(error.what)].add();
    note_exchange(session, exchange, result_name(error));
    // Answers before this one may still be under way, and a part of this one is of use as well.
    if (!client_gone && error.what != Errc::cancelled) co_await await_arrival(session);
    session.end_with_reset();
    co_return Next::end;
  }
  if (error.whose == Side::client && error.what == Errc::ended) error.what = Errc::malformed;
  HttpRefusal refusal = refusal_of(request, error);
  refusal.may_continue = false;
  Next next = co_await refuse(session, std::move(refusal));
  co_return next;
}

net::Task<Next> forward(Session& session, HttpRequest& request) {
  bool fresh = false;
  for (;;) {
    Result<Done> obtained = co_await obtain_upstream(session, request, fresh);
    if (!obtained) {
      HttpRefusal refusal = refusal_of(request, obtained.error());
      Next next = co_await refuse(session, std::move(refusal));
      co_return next;
    }
    Exchange exchange(session, request);
    session.pause_set_up();
    Exchange::State state = co_await run_exchange(session, exchange);
    session.disarm_deadline();
    if (state == Exchange::State::complete) {
      session.worker().stats.requests.add();
      note_exchange(session, exchange, "ok");
      part_from_upstream(session, exchange);
      exchange.return_surplus();
      if (exchange.client_persists()) co_return Next::another_request;
      const bool kernel_sends = session.client().layer() && session.client().can_splice_out();
      if (kernel_sends || may_leave_bytes_unread(session, request, exchange))
        co_await linger(session);
      co_return Next::end;
    }
    if (state == Exchange::State::switched) {
      note_exchange(session, exchange, {});
      exchange.return_surplus();
      session.start_tunnel(exchange.switch_reply());
      co_return Next::end;
    }
    bool again =
        state == Exchange::State::died && session.upstream->reused && request.retriable() && !fresh;
    if (again) {
      session.worker().stats.retried.add();
      exchange.return_surplus();
      fresh = true;
      continue;
    }
    Next next = co_await end_broken(session, request, exchange);
    co_return next;
  }
}

net::Task<Next> handle_request(Session& session) {
  HttpRequest request;
  std::optional<HttpRefusal> refused = co_await read_request(session, request);
  Next next = Next::end;
  if (refused)
    next = co_await refuse(session, std::move(*refused));
  else if (request.kind == HttpRequest::Kind::connect)
    next = co_await open_tunnel(session, request);
  else if (request.kind == HttpRequest::Kind::answer_here)
    next = co_await answer_here(session, request);
  else
    next = co_await forward(session, request);
  co_return next;
}

}  // namespace

net::Task<void> serve_http(Session& session) {
  session.set_protocol_name("http");
  bool first = true;
  for (;;) {
    // At rest: nothing but this frame belongs to the client.
    session.set_resting(true);
    if (!first) session.arm_deadline(session.options().keepalive_timeout);
    while (session.inbox.empty() && !session.client().readable()) {
      Result<Done> woken = co_await session.woken();
      if (!woken) co_return;
    }
    session.set_resting(false);
    if (!first) session.begin_set_up();
    Next next = co_await handle_request(session);
    if (next == Next::end) co_return;
    first = false;
    if (session.inbox.empty() && !session.client().readable()) continue;
    // More is there already: others first. What we answer ourselves needs no waiting, and a client
    // that sends such requests without a pause would keep the worker to itself.
    session.disarm_deadline();
    session.run_again();
    Result<Done> woken = co_await session.woken();
    if (!woken) co_return;
  }
}

}  // namespace headrace::session
