// A listener as all workers share it, and the end of it that one worker accepts from.
//
// Each worker has a listening socket of its own (SO_REUSEPORT), so that accepting needs no lock.
// The kernel spreads connections by hash, which is uneven while they are few: a worker that already
// holds clearly more of them than another hands a new one over.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "access/policy.h"
#include "net/endpoint.h"
#include "net/loop.h"
#include "session/options.h"
#include "tls/client_context.h"
#include "tls/server_context.h"

namespace headrace::session {

class Worker;

class Listener {
 public:
  Listener(ListenerOptions options, access::Policy policy, size_t workers)
      : options_(std::move(options)),
        policy_(std::move(policy)),
        live_(workers),
        tls_contexts_(workers),
        to_tls_contexts_(workers) {}

  const ListenerOptions& options() const { return options_; }
  const access::Policy& policy() const { return policy_; }
  size_t workers() const { return live_.size(); }

  // Connections held, per worker and in all. A connection counts from the moment its worker was
  // chosen, also while it is on its way there: of a burst, all but one would go to the same worker
  // otherwise. Relaxed: balance may be off by one for a moment. max_connections is kept exactly,
  // whichever workers ask at once: false when there is no place left, and then nothing is counted.
  [[nodiscard]] bool note_opened(size_t worker);
  void note_closed(size_t worker);
  uint64_t live_of(size_t worker) const {
    return live_[worker].count.load(std::memory_order_relaxed);
  }
  uint64_t live() const;

  // How a worker speaks TLS with clients; there is one for each where the options say TLS. Each is
  // its worker's alone, who keeps it for the length of a handshake: it may be exchanged meanwhile.
  void set_tls(size_t worker, std::shared_ptr<tls::ServerContext> context) {
    tls_contexts_[worker] = std::move(context);
  }
  const std::shared_ptr<tls::ServerContext>& tls(size_t worker) const {
    return tls_contexts_[worker];
  }

  // The same for the destination.
  void set_to_tls(size_t worker, std::shared_ptr<tls::ClientContext> context) {
    to_tls_contexts_[worker] = std::move(context);
  }
  const std::shared_ptr<tls::ClientContext>& to_tls(size_t worker) const {
    return to_tls_contexts_[worker];
  }

  // TLS handshakes under way, over all workers: they cost much more than what they came with. False
  // where there are as many as there may be.
  bool begin_handshake() {
    if (handshakes_.fetch_add(1, std::memory_order_relaxed) < options_.tls.handshakes_max)
      return true;
    end_handshake();
    return false;
  }
  void end_handshake() { handshakes_.fetch_sub(1, std::memory_order_relaxed); }

  // One worker at a time turns a client away in the place of its reserved descriptor, or they would
  // take it from each other. Only locked when there are no descriptors left.
  std::mutex shed_mutex;
  // Set while there are none left: then all accepting is under the lock, so that nobody takes the
  // place that another has just given up.
  std::atomic<bool> short_of_descriptors{false};

  // Who should take a connection that arrived at `worker`: itself, or the one that holds fewest.
  // Exact while connections are few, with some slack when they are many and handing over is waste.
  size_t choose_worker(size_t worker) const;

 private:
  struct alignas(64) Live {
    std::atomic<uint64_t> count{0};
  };
  const ListenerOptions options_;
  const access::Policy policy_;
  std::vector<Live> live_;
  std::atomic<uint64_t> places_taken_{0};  // counted where there is a limit
  std::vector<std::shared_ptr<tls::ServerContext>> tls_contexts_;
  std::vector<std::shared_ptr<tls::ClientContext>> to_tls_contexts_;
  std::atomic<uint32_t> handshakes_{0};
};

// Gives a client that was accepted here, and is counted there, to another worker.
class Handover {
 public:
  virtual ~Handover() = default;
  virtual void hand_over(size_t worker, Listener& listener, UniqueFd client,
                         std::optional<net::Endpoint> address) = 0;
};

class Acceptor final : public net::Runnable {
 public:
  // Accepted in one turn; more wait for the next.
  static constexpr int kBatchMax = 64;
  // How long accepting rests after the system ran out of something.
  static constexpr net::Duration kPause = std::chrono::milliseconds(100);

  Acceptor(Worker& worker, Listener& listener, Handover& handover);

  // Takes a socket that listens.
  Result<Done> open(UniqueFd fd);
  void close();
  void run() override;

 private:
  enum class Outcome : uint8_t { accepted, none, paused };
  Outcome accept_one();
  Outcome shed_one(int os_errno);
  bool take_reserve();
  void pause(int os_errno);

  Worker& worker_;
  Listener& listener_;
  Handover& handover_;
  net::Watch watch_;
  net::Timer timer_;
  UniqueFd fd_;
  // To accept in the next turn: as many as there were in the last, so that a steady stream of
  // clients costs few calls that find nobody; twice as many while turn after turn fills it.
  int batch_ = 1;
  uint64_t filled_turn_ = 0;
  // Given up one at a time to accept and close a client when there is no other descriptor. Several,
  // as another part of the process may be faster and take the place of one.
  std::array<UniqueFd, 3> reserve_;
};

}  // namespace headrace::session
