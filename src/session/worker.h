// What one worker lends to its sessions. One thread owns it all; nothing is locked.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/list.h"
#include "base/log.h"
#include "dns/resolver.h"
#include "http/head.h"
#include "net/loop.h"
#include "relay/direction.h"
#include "relay/rest.h"
#include "session/origin_pool.h"
#include "session/stats.h"
#include "tls/workspace.h"

namespace headrace::session {

class Session;
struct SessionTag;

class Worker {
 public:
  // All outlive the worker. `via_id` tells this process from other headraces in Via.
  Worker(size_t index, net::Loop& loop, dns::Resolver& resolver, LogSink& log, std::string via_id);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // One turn of the loop, and how long to rest before the next one.
  void turn();

  // Sessions at rest end at once, the others after what they are doing.
  void drain();
  bool draining() const { return draining_; }
  // Ends what is left, with resets.
  void cut_all();
  size_t session_count() const { return session_count_; }

  // A session is owned by its worker from start to release.
  void adopt(Session& session);
  void release(Session& session);

  // Says, at most once a second, that load is being shed because the system ran out of something.
  void note_shortage(Errc what);

  const size_t index;  // among the workers of the process
  net::Loop& loop;
  dns::Resolver& resolver;
  LogSink& log;
  const std::string via_id;
  relay::Mover mover;
  tls::Workspace tls;
  OriginPool pool;
  Stats stats;

  // Scratch of the HTTP front end: valid until the next wait.
  http::RequestHead request_head;
  http::ResponseHead response_head;
  std::string head_text;
  std::string key_text;
  std::string credentials_text;

 private:
  List<Session, SessionTag> sessions_;
  size_t session_count_ = 0;
  std::optional<net::Instant> shortage_told_;
  bool draining_ = false;
  relay::Rest rest_;
};

}  // namespace headrace::session
