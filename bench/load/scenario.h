// What a run does with its connections. The client makes and keeps the connections, a scenario
// decides what goes over them; both belong to one thread.
#pragma once

#include <cstdint>
#include <memory>

#include "failure.h"
#include "stream.h"
#include "tunnel.h"

namespace headrace::load {

class Client;
struct ClientOptions;

struct Connection {
  enum class Phase : uint8_t { closed, connecting, handshaking, tunnelling, up };

  Stream stream;
  std::unique_ptr<Tunnel> tunnel;  // while it is being made
  uint32_t index = 0;
  Phase phase = Phase::closed;
  bool settled = false;  // counts as established
  int64_t opened_ns = 0;
  int64_t waiting_since_ns = 0;  // from when the timeout runs; 0: it waits for nothing
};

class Scenario {
 public:
  explicit Scenario(Client& client) : client_(client) {}
  virtual ~Scenario() = default;
  Scenario(const Scenario&) = delete;
  Scenario& operator=(const Scenario&) = delete;

  // False: connections are made as they are needed, and start() is called at once.
  virtual bool holds_connections() const { return true; }
  // False: the run goes on until the scenario calls Client::finish().
  virtual bool is_timed() const { return true; }

  // All connections stand, or none is held: the load begins.
  virtual void start(int64_t now_ns) = 0;
  // A connection can be used. Before start() the scenario says Client::settle() when it is ready.
  virtual void on_up(Connection& connection, int64_t now_ns) = 0;
  // Its socket became ready (epoll's events, edge-triggered).
  virtual void on_ready(Connection& connection, uint32_t events) = 0;
  // It never stood; counted and closed already. Held connections are tried again.
  virtual void on_setup_failed(Connection& connection, Failure failure, int64_t now_ns);
  // It waits since longer than the timeout; still open.
  virtual void on_timeout(Connection& connection, int64_t now_ns) = 0;
  // Once per turn of the loop: starts what is due and says when the next is (kNever: not by time).
  virtual int64_t on_turn(int64_t now_ns);
  // At the bounds of the measured time.
  virtual void on_window_begin(int64_t) {}
  virtual void on_window_end(int64_t) {}
  // After the measured time: whether all that was due in it has ended.
  virtual bool is_drained() const { return true; }
  // Standard input said something or ended.
  virtual void on_input() {}

 protected:
  Client& client_;
};

std::unique_ptr<Scenario> make_scenario(Client& client, const ClientOptions& options);

}  // namespace headrace::load
