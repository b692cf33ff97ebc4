// TLS handshakes: with the client, before anything else of its session.
#include "http/answer.h"
#include "session/session.h"
#include "tls/stream.h"

namespace headrace::session {
namespace {

constexpr std::string_view kPlainHttpDetails =
    "this port speaks TLS: ask with https:// (curl: --proxy https://...)";

// One of the handshakes that a listener may have under way.
class HandshakePlace {
 public:
  explicit HandshakePlace(Listener& listener)
      : listener_(listener), taken_(listener.begin_handshake()) {}
  HandshakePlace(const HandshakePlace&) = delete;
  HandshakePlace& operator=(const HandshakePlace&) = delete;
  ~HandshakePlace() {
    if (taken_) listener_.end_handshake();
  }
  bool taken() const { return taken_; }

 private:
  Listener& listener_;
  const bool taken_;
};

// No method of HTTP begins with anything else, and nothing of TLS with that.
bool may_be_http(Protocol protocol, uint8_t first_byte) {
  bool speaks_http = protocol == Protocol::http || protocol == Protocol::mixed;
  return speaks_http && first_byte >= 'A' && first_byte <= 'Z';
}

// In plain text, for whoever forgot the s of https.
net::Task<void> answer_plain_http(Session& session) {
  std::string page;
  http::append_error_page(
      {Error{Errc::malformed, Side::client}, std::string(kPlainHttpDetails), true, false}, page);
  Result<Done> sent = co_await send_to_client(session, std::move(page));
  if (sent) co_await linger(session);
}

}  // namespace

net::Task<bool> accept_tls(Session& session) {
  session.set_protocol_name("tls");
  HandshakePlace place(session.listener());
  if (!place.taken()) {
    session.note_refusal(Error{Errc::handshake_limit, Side::local});
    session.end_with_reset();
    co_return false;
  }
  session.set_resting(true);
  // Kept, as it may be exchanged for another one in the middle.
  std::shared_ptr<tls::ServerContext> context = session.listener().tls(session.worker().index);
  auto made = std::make_unique<tls::Stream>(session.worker().tls, *context);
  tls::Stream& stream = *made;
  stream.take_received(session.inbox.bytes());
  session.inbox.clear();
  session.client().add_layer(std::move(made));
  tls::Stream::Handshake state = stream.shake_hands(session.client());
  while (state == tls::Stream::Handshake::waiting) {
    Result<Done> woken = co_await session.woken();
    if (!woken) {
      session.note_refusal(woken.error());
      session.end_with_reset();
      co_return false;
    }
    state = stream.shake_hands(session.client());
  }
  session.set_resting(false);
  if (state == tls::Stream::Handshake::done) co_return true;

  Error error{stream.failure(), Side::client};
  session.note_refusal(error, {}, stream.failure_text());
  uint8_t first_byte = stream.first_byte();
  session.client().remove_layer();
  bool plain_http = state == tls::Stream::Handshake::not_tls &&
                    may_be_http(session.options().protocol, first_byte);
  if (plain_http)
    co_await answer_plain_http(session);
  else
    co_await linger(session);  // so that the alert is read before the reset that unread bytes cause
  co_return false;
}

net::Task<Result<Done>> connect_tls(Session& session, const Target& target,
                                    std::string_view& details) {
  session.arm_deadline(session.options().connect_timeout);
  net::Socket& socket = session.upstream->socket;
  const std::string& other_name = session.options().to_tls.name;
  std::string name = other_name;
  if (name.empty())
    name = target.host.is_name() ? std::string(target.host.name()) : target.host.to_string();
  bool is_address = IpAddress::parse(name).has_value();
  std::string destination = target.to_string();
  // Only to begin with: the connection keeps what it needs of it.
  tls::ClientContext& context = *session.listener().to_tls(session.worker().index);
  auto made =
      std::make_unique<tls::Stream>(session.worker().tls, context, name, is_address, destination);
  tls::Stream& stream = *made;
  socket.add_layer(std::move(made));
  tls::Stream::Handshake state = stream.shake_hands(socket);
  while (state == tls::Stream::Handshake::waiting) {
    Result<Done> woken = co_await session.woken();
    if (!woken) {
      bool late = woken.error().what == Errc::timed_out;
      co_return late ? Error{Errc::connect_timed_out, Side::upstream} : woken.error();
    }
    if (session.client().faulty()) co_return Error{Errc::reset, Side::client};
    state = stream.shake_hands(socket);
  }
  session.disarm_deadline();
  if (state == tls::Stream::Handshake::done) co_return Done{};
  details = stream.failure_text();
  co_return Error{stream.failure(), Side::upstream};
}

}  // namespace headrace::session
