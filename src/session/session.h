// One client from accept to end. Set-up is a coroutine (serve.cc and the fronts); a tunnel is a
// state machine (relay/relay.h). While the coroutine runs, the session waits for one thing at a
// time: it is run for every event of its sockets, its timer or an answer it asked for, and the
// coroutine looks whether that was it.
//
// Owned by its worker, on whose thread everything happens.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/list.h"
#include "base/result.h"
#include "net/buffer.h"
#include "net/endpoint.h"
#include "net/socket.h"
#include "net/task.h"
#include "relay/relay.h"
#include "session/listener.h"
#include "session/upstream.h"
#include "session/worker.h"

namespace headrace::session {

// What the access log will say; kept only where there is one.
struct Account {
  std::string user;
  std::string target;  // as asked
  std::string method;  // of an HTTP request
  std::optional<net::Endpoint> dialled;
  int status = 0;  // HTTP
  uint64_t bytes_up = 0;
  uint64_t bytes_down = 0;
  bool spliced = false;
  net::Instant started{};
};

class Session final : public net::Runnable, public Linked<SessionTag> {
 public:
  // Takes a client that the listener counts already. The session frees itself at its end.
  static void start(Worker& worker, Listener& listener, UniqueFd client,
                    std::optional<net::Endpoint> address);
  ~Session();

  void run() override;
  // The worker wants to stop: a session at rest ends, another ends after what it is doing.
  void drain();
  // Ends at once, with resets.
  void cut();

  // For the phases of set-up.
  // -----------------------------------------------------------------------------------------------

  Worker& worker() { return worker_; }
  Listener& listener() { return listener_; }
  const ListenerOptions& options() const { return listener_.options(); }
  const access::Policy& policy() const { return listener_.policy(); }
  net::Socket& client() { return client_; }
  // The client's address; none for a unix socket.
  const std::optional<net::Endpoint>& client_address() const { return client_address_; }
  access::Client access_client() const;
  // The client and the address that it went to, as a proxy in front has told them.
  void set_told_ends(const net::Endpoint& client, const net::Endpoint& destination);
  // Where the client went to: told, or our own end; none for a unix socket.
  std::optional<net::Endpoint> client_destination() const;

  // Limits what comes until the next arm_deadline or disarm_deadline; waiting beyond it fails.
  void arm_deadline(net::Duration after) { worker_.loop.arm(timer_, after); }
  void disarm_deadline() { timer_.disarm(); }
  // One deadline for all of set-up: from the client's arrival, or from the first byte of a further
  // request. It stands still while somebody with limits of their own is at work: the dialer, an
  // exchange.
  void begin_set_up();
  void pause_set_up();
  // With what was left of it, to tell the client why it gets no further.
  void resume_set_up();

  // Waits until something may have happened. An error when the deadline has passed (timed_out) or
  // the session was cut (cancelled).
  struct Wake {
    Session& session;
    bool await_ready() const noexcept { return session.verdict_.has_value(); }
    void await_suspend(std::coroutine_handle<> waiting) noexcept {
      session.slot_.await_suspend(waiting);
    }
    Result<Done> await_resume() const noexcept { return session.wait_result(); }
  };
  Wake woken() { return Wake{*this}; }
  // Tells run() to come again in the next turn: the coroutine has more to do, others first.
  void run_again() { worker_.loop.make_ready(*this); }
  // Tells run() to come again in the second phase of this turn, when all others have received.
  void run_late() { worker_.loop.run_late(*this); }
  bool first_phase() const { return !worker_.loop.late_phase(); }

  // Received from the client and not yet used.
  net::Residue inbox;
  // Receives more into the inbox, up to `bytes_max` in all.
  net::IoResult receive_into_inbox(size_t bytes_max);

  std::unique_ptr<Upstream> upstream;

  // Becomes a tunnel between client and upstream when the coroutine returns. `reply` goes to the
  // client first; what is in the inbox goes to the upstream first.
  void start_tunnel(std::string_view reply);
  // The end of the session will be a reset: something was cut.
  void end_with_reset() { reset_at_end_ = true; }

  bool draining() const { return worker_.draining(); }
  // At rest between two requests: may be ended without harm.
  void set_resting(bool resting) { resting_ = resting; }

  // The account, or nullptr where nobody will read it.
  Account* account();
  // Writes the access line and starts the next account.
  void log_access(std::string_view result);
  // Counts and logs why something was refused; `target` as it was asked for, where that is known,
  // and what a library had to say of it.
  void note_refusal(const Error& error, std::string_view target = {},
                    std::string_view details = {});
  std::string_view protocol_name() const { return protocol_name_; }
  void set_protocol_name(const char* literal) { protocol_name_ = literal; }

 private:
  Session(Worker& worker, Listener& listener, std::optional<net::Endpoint> address);

  Result<Done> wait_result();
  void run_set_up();
  relay::Progress step_tunnel();
  void run_tunnel();
  void arm_tunnel_timer();
  bool tunnel_timed_out();
  std::string_view path_name(bool spliced) const;
  void finish_tunnel(std::string_view result, bool reset);
  void end();

  Worker& worker_;
  Listener& listener_;
  net::Socket client_;
  [[no_unique_address]] net::Timer timer_;  // what follows lies in its padding
  std::optional<Errc> verdict_;             // why waiting is over
  bool resting_ = false;
  bool reset_at_end_ = false;
  bool half_closed_ = false;
  bool told_from_elsewhere_ = false;  // the client's address, by a proxy on another host
  net::Task<void> set_up_;
  net::WaitSlot slot_;
  std::unique_ptr<relay::Relay> tunnel_;
  std::unique_ptr<Account> account_;
  std::optional<net::Endpoint> client_address_;
  std::unique_ptr<net::Endpoint> told_destination_;
  net::Instant last_activity_{};    // of the tunnel
  net::Duration set_up_left_{};     // while it is paused
  const char* protocol_name_ = "";  // a literal
};

static_assert(sizeof(Session) <= 232);  // one of malloc's 240 bytes

// The phases. Each returns when its part is done; see serve.cc.
net::Task<void> serve(Session& session);
net::Task<void> serve_http(Session& session);
net::Task<void> serve_socks(Session& session);
net::Task<void> serve_relay(Session& session);
net::Task<void> serve_sni(Session& session);

// The TLS handshake with the client. False when there is no more to be done for it.
net::Task<bool> accept_tls(Session& session);
// The same with the upstream just dialled, where the options say so. `details` gets the library's
// words for a failure.
net::Task<Result<Done>> connect_tls(Session& session, const Target& target,
                                    std::string_view& details);
// Opens a connection to the target; it becomes the session's upstream. All but the session are to
// outlive the task.
net::Task<Result<Done>> dial(Session& session, const Target& target, access::How how,
                             std::string_view user);
// Sends all of `text` to the client.
net::Task<Result<Done>> send_to_client(Session& session, std::string text);
// Ends the client's connection so that it can read what was sent last: half-close, then discard
// what still comes until the client closes, or for a while after it has acknowledged everything. A
// close with unread bytes would send RST and destroy the answer.
net::Task<void> linger(Session& session);
// Before a reset, which destroys what is under way: waits a moment for it to arrive.
net::Task<void> await_arrival(Session& session);

}  // namespace headrace::session
