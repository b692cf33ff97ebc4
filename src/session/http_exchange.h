// One forwarded request and its answer: two bodies moving at once, interim answers, early answers,
// a change of protocol. A state machine like the relay: step() may be called whenever something
// happened to either side.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"
#include "http/head.h"
#include "session/body_mover.h"
#include "session/http_request.h"
#include "session/session.h"

namespace headrace::session {

class Exchange {
 public:
  // How it stands after a step.
  enum class State : uint8_t {
    waiting,
    again,     // budget spent
    parked,    // received: step again in the second phase of the turn
    complete,  // the answer has been passed on
    switched,  // 101: from now on it is a tunnel
    died,      // the upstream ended before any byte of an answer
    failed,    // error() says why; answered() whether the client has seen part of the answer
  };

  // Sends the head, with what the inbox holds of the body.
  Exchange(Session& session, HttpRequest& request);
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  State step();

  const Error& error() const { return error_; }
  // Ends it from outside: too long a silence, or the session is being cut.
  void give_up(Error error) { error_ = error; }
  // The client has got bytes of the final answer: no other can be given.
  bool answered() const { return head_sent_; }
  // So are bytes of an interim answer that did not leave whole: the client would read anything else
  // as the rest of it.
  bool cuts_the_client() const { return head_sent_ || !down_.idle(); }
  int status() const { return status_; }
  // All of the request has been received and sent.
  bool request_finished() const { return up_.finished(); }
  // Gives back what it has leased of the worker, which must not wait; what has not left is lost.
  void abandon();
  // After complete: whether either connection can carry another exchange.
  bool client_persists() const { return client_persists_; }
  bool upstream_persists() const;
  bool binds_connection() const { return binds_connection_; }
  // Received from the client or the upstream so far: whether something still moves.
  uint64_t moved_bytes() const { return up_.moved_bytes() + down_.moved_bytes(); }
  // Those of the upstream before its final one, so far.
  uint64_t interim_answers() const { return interim_answers_; }
  uint64_t up_bytes() const { return request_.head_bytes + up_.moved_bytes(); }
  uint64_t down_bytes() const { return answer_head_bytes_ + down_.moved_bytes(); }
  bool has_spliced() const { return up_.has_spliced() || down_.has_spliced(); }
  // After switched: what came behind the 101, and the head to send first.
  std::string_view switch_reply() const { return switch_reply_; }
  // Bytes of the client behind its request go back to the session.
  void return_surplus();

 private:
  enum class Heads : uint8_t { partial, interim, final, switched, failed };

  State step_request();
  State step_answer();
  State receive_head();
  // Parses what has come, in place, up to the final head; what is behind it is the body's.
  State take_heads(MutableByteSpan bytes);
  std::optional<Errc> append_interim(const http::ResponseHead& head, std::string& out);
  State pass_final(const http::ResponseHead& head, MutableByteSpan rest);
  State switch_protocols(const http::ResponseHead& head, ByteSpan rest);
  State fail(Errc what, Side whose, int os_errno = 0);
  State upstream_gone(int os_errno);
  relay::Mover& mover() { return session_.worker().mover; }
  net::Socket& client() { return session_.client(); }
  net::Socket& upstream() { return session_.upstream->socket; }

  Session& session_;
  HttpRequest& request_;
  BodyMover up_;
  BodyMover down_;
  net::Residue answer_inbox_;  // a head that came in pieces
  http::HeadCursor cursor_;
  std::string switch_reply_;
  uint64_t answer_head_bytes_ = 0;
  uint64_t interim_answers_ = 0;
  Error error_{Errc::os_failure, Side::local};
  int status_ = 0;
  bool up_failed_ = false;  // the upstream takes no more of the request
  bool head_sent_ = false;
  bool any_answer_ = false;  // any byte of an answer came
  bool client_persists_ = false;
  bool upstream_persists_ = false;
  bool binds_connection_ = false;
};

}  // namespace headrace::session
