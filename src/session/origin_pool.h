// Idle connections to origins, kept by one worker and shared between its clients. Never across
// source addresses (nor parents and TLS settings, which will join the key), and never after
// authentication that is bound to a connection: such an upstream is not given back.
//
// The connection used last is taken first, so that surplus ones grow old and go. They go with RST:
// our FIN would leave a local port in TIME_WAIT, and nothing is in flight.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/counter.h"
#include "base/list.h"
#include "base/target.h"
#include "net/loop.h"
#include "session/upstream.h"

namespace headrace::session {

// One destination as requests name it.
struct Origin {
  std::string key;
  List<Upstream, PoolTag> idle;  // the one used last in front
  size_t connections = 0;        // idle and in use; the entry goes with the last
};

struct PoolStats {
  Counter reused;
  Counter opened;
  Counter died_idle;
};

class OriginPool final : public net::Runnable {
 public:
  // Beyond, the one closest to its end goes.
  static constexpr size_t kIdleMax = 2048;

  explicit OriginPool(net::Loop& loop) : loop_(loop), timer_(*this) {}
  ~OriginPool();

  // A connection to that destination, or nullptr. It passes to the caller, who sets the socket's
  // owner.
  std::unique_ptr<Upstream> lease(std::string_view key);
  // Says what a connection just dialled leads to, so that it can be given back.
  void adopt(Upstream& upstream, std::string_view key);
  // It may idle for so long (keepalive_timeout of the listener).
  void give_back(std::unique_ptr<Upstream> upstream, net::Duration idle_max);
  void close_all();

  void run() override;  // the timer: close what is too old

  size_t idle() const { return idle_count_; }
  const PoolStats& stats() const { return stats_; }

 private:
  friend class Upstream;
  void forget(Upstream& upstream);
  void drop_idle(Upstream& upstream);
  void insert_by_expiry(Upstream& upstream);
  void drop_dead(Upstream& upstream);

  net::Loop& loop_;
  net::Timer timer_;
  std::unordered_map<std::string_view, std::unique_ptr<Origin>> origins_;  // keys view Origin::key
  List<Upstream, IdleTag> by_expiry_;  // the first to go in front
  size_t idle_count_ = 0;
  PoolStats stats_;
};

// The key of a destination: host, port and the address dialled from.
void make_origin_key(const Target& target, const std::optional<IpAddress>& source,
                     std::string& out);

}  // namespace headrace::session
