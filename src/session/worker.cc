#include "session/worker.h"

#include "base/log_line.h"
#include "session/session.h"

namespace headrace::session {

Worker::Worker(size_t index_in, net::Loop& loop_in, dns::Resolver& resolver_in, LogSink& log_in,
               std::string via_id_in)
    : index(index_in),
      loop(loop_in),
      resolver(resolver_in),
      log(log_in),
      via_id(std::move(via_id_in)),
      tls(&loop_in),
      pool(loop_in) {}

Worker::~Worker() {
  while (!sessions_.empty()) release(sessions_.front());
}

void Worker::turn() {
  const uint64_t moved_before = mover.moved_bytes();
  loop.turn();
  loop.rest_before_wait(rest_.after_turn(loop.events(), mover.moved_bytes() - moved_before));
}

void Worker::adopt(Session& session) {
  sessions_.push_back(session);
  ++session_count_;
}

void Worker::release(Session& session) {
  --session_count_;
  stats.sessions_ended.add();
  delete &session;
}

void Worker::note_shortage(Errc what) {
  constexpr net::Duration kQuiet = std::chrono::seconds(1);
  if (shortage_told_ && *shortage_told_ + kQuiet > loop.now()) return;
  shortage_told_ = loop.now();
  LogLine line;
  line.add("event", "shedding").add("reason", name_of(what)).add("shed", stats.shed.value());
  log.write(LogLevel::warn, line.text());
}

void Worker::drain() {
  draining_ = true;
  for (Session& session : sessions_) session.drain();
  pool.close_all();
}

void Worker::cut_all() {
  for (Session& session : sessions_) session.cut();
}

}  // namespace headrace::session
