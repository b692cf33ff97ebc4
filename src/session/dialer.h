// Opens a connection to a target: resolves, judges each address, and tries all of them as RFC 8305
// says, a new attempt every 250 ms while none has succeeded. The first that stands wins; the others
// are dropped. Belongs to the phase that waits for it, and makes the session ready when it is
// finished.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "access/policy.h"
#include "base/result.h"
#include "base/target.h"
#include "dns/resolver.h"
#include "net/loop.h"
#include "session/upstream.h"

namespace headrace::session {

class Worker;

struct DialOptions {
  const Target& target;  // outlives the dialer
  // Asked about each address before it is dialled: for whom, and how.
  const access::Policy& policy;
  access::Client client;
  std::string_view user;  // outlives the dialer
  access::How how;
  std::optional<IpAddress> source;
  net::Duration timeout;
};

class Dialer final : public net::Runnable {
 public:
  // Between two attempts (RFC 8305 section 5: Connection Attempt Delay).
  static constexpr net::Duration kAttemptDelay = std::chrono::milliseconds(250);
  // How long an answer with IPv4 addresses waits for the IPv6 ones (section 3: Resolution Delay).
  static constexpr net::Duration kResolutionDelay = std::chrono::milliseconds(50);
  // Attempts under way at one time; more addresses wait for their turn.
  static constexpr size_t kAttemptsMax = 4;

  Dialer(Worker& worker, net::Runnable& waiting, const DialOptions& options);
  ~Dialer();

  bool finished() const { return finished_; }
  // Once finished.
  Result<std::unique_ptr<Upstream>> take_result();

  void run() override;

 private:
  void take_addresses();
  void add_addresses(std::span<const IpAddress> addresses, bool first_choice);
  bool may_start_attempt() const;
  void start_attempt();
  Result<std::unique_ptr<Upstream>> open_socket(const net::Endpoint& endpoint);
  void check_attempts();
  void finish(std::unique_ptr<Upstream> upstream);
  void fail(Error error);
  void note_failure(Error error);

  Worker& worker_;
  net::Runnable& waiting_;
  DialOptions options_;
  dns::Lookup lookup_;
  net::Timer limit_;
  net::Timer pace_;                   // the resolution delay, then the attempt delay
  std::vector<IpAddress> addresses_;  // in the order to try; next_ points behind those tried
  size_t next_ = 0;
  std::vector<std::unique_ptr<Upstream>> attempts_;
  std::unique_ptr<Upstream> connected_;
  std::optional<Error> failure_;  // the one that says most
  bool took_v4_ = false;
  bool took_v6_ = false;
  bool started_ = false;
  bool finished_ = false;
};

}  // namespace headrace::session
