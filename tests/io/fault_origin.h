// Plays the origin of every tunnel and request of a round, as they are planned.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "fault_plans.h"
#include "plain_socket.h"

namespace headrace::io {

class FaultOrigin {
 public:
  explicit FaultOrigin(const RoundPlan& round);
  ~FaultOrigin();

  uint16_t port() const { return listener_.port(); }
  net::Endpoint endpoint() const { return listener_.endpoint(); }

  // Everything that can be done without waiting.
  void step();
  // Of every tunnel that came this far the end was seen.
  bool is_done_with_tunnels() const;

  // All of it came up, and of a tunnel its clean end.
  bool got_all(uint64_t id) const { return complete_.contains(id); }
  // A tunnel's client ended cleanly, whatever it had sent before.
  bool saw_clean_end(uint64_t id) const { return ended_.contains(id); }
  // What must never happen, in words.
  const std::vector<std::string>& faults() const { return faults_; }

 private:
  struct Connection;

  void step(Connection& connection);
  void begin(Connection& connection);
  void step_tunnel(Connection& connection);
  void step_http(Connection& connection);
  bool take_head(Connection& connection);
  bool take_body(Connection& connection);
  void answer(Connection& connection);
  void end_answer(Connection& connection);
  void fault(uint64_t id, const std::string& what);

  const RoundPlan& round_;
  PlainListener listener_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::set<uint64_t> complete_;
  std::set<uint64_t> ended_;
  std::vector<std::string> faults_;
};

}  // namespace headrace::io
