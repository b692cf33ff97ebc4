#include "session/http_exchange.h"

#include "base/text.h"
#include "http/connection.h"
#include "http/framing.h"
#include "http/rewrite.h"

namespace headrace::session {
namespace {

using relay::Want;
using Output = http::ChunkedBody::Output;

bool asks_for_bound_authentication(const http::ResponseHead& head) {
  for (const http::Field& field : head.fields) {
    if (!equals_ignoring_case(field.name, "www-authenticate")) continue;
    std::string_view scheme = field.value.substr(0, field.value.find_first_of(" ,"));
    if (equals_ignoring_case(scheme, "NTLM") || equals_ignoring_case(scheme, "Negotiate"))
      return true;
  }
  return false;
}

}  // namespace

Exchange::Exchange(Session& session, HttpRequest& request)
    : session_(session), request_(request), binds_connection_(request.binds_connection) {
  // The inbox lies in memory of its own, so chunks can be rewritten in place there. The requests
  // behind this one stay where they are: there may be thousands.
  net::Residue& inbox = session_.inbox;
  MutableByteSpan bytes(const_cast<uint8_t*>(inbox.bytes().data()), inbox.size());
  Output output = request_.drops_trailer ? Output::chunked_without_trailer : Output::chunked;
  relay::ParkingScope parking(mover(), session_.first_phase());
  const BodyMover::Message message{request_.head, request_.body, output, bytes, false};
  up_failed_ = !up_.start(message, upstream(), session_.options().splice, mover());
  inbox.consume(up_.moved_bytes());
}

Exchange::~Exchange() {
  abandon();
}

void Exchange::abandon() {
  up_.abandon(mover());
  down_.abandon(mover());
}

bool Exchange::upstream_persists() const {
  return upstream_persists_ && up_.finished() && down_.surplus.empty();
}

void Exchange::return_surplus() {
  session_.inbox.append(up_.surplus.bytes());
  up_.surplus.clear();
}

Exchange::State Exchange::fail(Errc what, Side whose, int os_errno) {
  error_ = Error{what, whose, os_errno};
  return State::failed;
}

// Before any byte of an answer the request may not have been seen at all; later the answer is cut.
Exchange::State Exchange::upstream_gone(int os_errno) {
  error_ = Error{os_errno == 0 ? Errc::ended : errc_of_errno(os_errno), Side::upstream, os_errno};
  return any_answer_ ? State::failed : State::died;
}

Exchange::State Exchange::step() {
  if (client().faulty()) return fail(Errc::reset, Side::client);
  relay::ParkingScope parking(mover(), session_.first_phase());
  State request = step_request();
  if (request == State::failed) return request;
  State answer = step_answer();
  if (answer == State::waiting || (answer == State::again && request == State::parked))
    return request;
  return answer;
}

Exchange::State Exchange::step_request() {
  if (up_failed_ || up_.finished()) return State::waiting;
  switch (up_.pump(client(), upstream(), mover())) {
    case Want::again:
      return State::again;
    case Want::source_failed: {
      Errc what = up_.malformed() ? Errc::malformed : Errc::ended;
      if (up_.os_errno() != 0) what = errc_of_errno(up_.os_errno());
      return fail(what, Side::client, up_.os_errno());
    }
    case Want::destination_failed:
      up_failed_ = true;  // its answer, often the reason, may still be there
      return State::waiting;
    case Want::parked:
      return State::parked;
    case Want::read:
    case Want::write:
    case Want::over:
      return State::waiting;
  }
  return State::waiting;
}

Exchange::State Exchange::step_answer() {
  if (!head_sent_) {
    State head = receive_head();
    if (!head_sent_) return head;
  }
  switch (down_.pump(upstream(), client(), mover())) {
    case Want::again:
      return State::again;
    case Want::over:
      return State::complete;
    case Want::destination_failed:
      return fail(errc_of_errno(down_.os_errno()), Side::client, down_.os_errno());
    case Want::source_failed:
      if (down_.malformed()) return fail(Errc::malformed, Side::upstream);
      return upstream_gone(down_.os_errno());
    case Want::parked:
      return State::parked;
    case Want::read:
    case Want::write:
      return State::waiting;
  }
  return State::waiting;
}

// One receive per step: an upstream that sends interim answers without a pause must not keep the
// worker to itself.
Exchange::State Exchange::receive_head() {
  // An interim answer that the client has not taken holds up what follows.
  Want drained = down_.drain(client(), mover());
  if (drained == Want::write) return State::waiting;
  if (drained == Want::parked) return State::parked;
  if (drained == Want::destination_failed) return fail(Errc::reset, Side::client);
  if (!upstream().readable()) return State::waiting;
  MutableByteSpan buffer = mover().scratch();
  net::IoResult in = upstream().receive(buffer);
  if (in.blocked()) return State::waiting;
  if (!in.moved()) return upstream_gone(in.os_errno);
  any_answer_ = true;
  State state;
  if (answer_inbox_.empty()) {
    state = take_heads(buffer.first(in.bytes));
  } else {
    net::Residue whole = std::move(answer_inbox_);
    whole.append(buffer.first(in.bytes));
    answer_inbox_.clear();
    state = take_heads(MutableByteSpan(const_cast<uint8_t*>(whole.bytes().data()), whole.size()));
  }
  bool more = state == State::waiting && !head_sent_ && upstream().readable();
  return more ? State::again : state;
}

// Interim answers that came together leave together: there may be thousands.
Exchange::State Exchange::take_heads(MutableByteSpan bytes) {
  http::ResponseHead& head = session_.worker().response_head;
  std::string& interim = session_.worker().head_text;
  interim.clear();
  for (;;) {
    http::HeadParse parsed = http::parse_response_head(as_text(bytes), cursor_, head);
    bool is_interim = parsed && head.status < 200 && head.status != 101;
    if (!is_interim && !down_.push(interim, client())) return fail(Errc::reset, Side::client);
    if (parsed.failed()) return fail(Errc::malformed, Side::upstream);
    if (!parsed) {
      answer_inbox_.append(bytes);
      return State::waiting;
    }
    cursor_ = {};
    MutableByteSpan rest = bytes.subspan(parsed.consumed_bytes());
    if (head.status == 101) return switch_protocols(head, rest);
    if (!is_interim) return pass_final(head, rest);
    answer_head_bytes_ += parsed.consumed_bytes();
    ++interim_answers_;
    if (std::optional<Errc> fault = append_interim(head, interim))
      return fail(*fault, Side::upstream);
    bytes = rest;
  }
}

// 100, 102, 103: for the client, unless it speaks HTTP/1.0 (RFC 9110 section 15.2).
std::optional<Errc> Exchange::append_interim(const http::ResponseHead& head, std::string& out) {
  if (request_.minor_version == 0) return std::nullopt;
  Result<http::ConnectionOptions> connection = http::connection_options(head);
  if (!connection) return connection.error().what;
  http::append_response_head({head, *connection, {}, session_.worker().via_id}, out);
  return std::nullopt;
}

Exchange::State Exchange::pass_final(const http::ResponseHead& head, MutableByteSpan rest) {
  Result<http::BodyLength> body = http::response_body(head, request_.method);
  if (!body) return fail(body.error().what, Side::upstream);
  Result<http::ConnectionOptions> connection = http::connection_options(head);
  if (!connection) return fail(connection.error().what, Side::upstream);
  status_ = head.status;
  binds_connection_ = binds_connection_ || asks_for_bound_authentication(head);

  http::BodyLength for_client = http::body_for_client(*body, request_.minor_version);
  // An answer that overtakes the request: the rest of the request would have to be thrown away.
  bool early = !up_.finished();
  client_persists_ = request_.persistent && !for_client.ends_connection && !early &&
                     !session_.draining() && for_client.kind != http::BodyLength::Kind::until_close;
  upstream_persists_ = connection->persistent && !body->ends_connection && !up_failed_ &&
                       body->kind != http::BodyLength::Kind::until_close;

  std::string& text = session_.worker().head_text;
  text.clear();
  http::append_response_head(
      {head, *connection, for_client, session_.worker().via_id, !client_persists_}, text);
  answer_head_bytes_ += text.size();
  bool decoded = body->kind == http::BodyLength::Kind::chunked &&
                 for_client.kind != http::BodyLength::Kind::chunked;
  Output output = decoded                           ? Output::decoded
                  : connection->nominated_count > 0 ? Output::chunked_without_trailer
                                                    : Output::chunked;
  head_sent_ = true;
  const BodyMover::Message message{text, *body, output, rest, !client_persists_};
  if (!down_.start(message, client(), session_.options().splice, mover()))
    return fail(Errc::reset, Side::client);
  if (down_.moved_bytes() < rest.size()) upstream_persists_ = false;  // it said more than was asked
  return State::waiting;
}

Exchange::State Exchange::switch_protocols(const http::ResponseHead& head, ByteSpan rest) {
  // Nobody can agree to a request that has not come to its end.
  if (!request_.upgrade || !up_.finished()) return fail(Errc::malformed, Side::upstream);
  Result<http::ConnectionOptions> connection = http::connection_options(head);
  if (!connection || !connection->upgrade) return fail(Errc::malformed, Side::upstream);
  status_ = head.status;
  switch_reply_ = as_text(down_.queued());  // interim answers
  http::append_response_head({head, *connection, {}, session_.worker().via_id}, switch_reply_);
  switch_reply_ += as_text(rest);
  return State::switched;
}

}  // namespace headrace::session
