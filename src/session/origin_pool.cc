#include "session/origin_pool.h"

namespace headrace::session {

Upstream::~Upstream() {
  if (pool) pool->forget(*this);
}

bool Upstream::is_quiet() {
  if (socket.hung_up()) return false;
  if (!socket.readable()) return true;
  uint8_t byte;
  return socket.receive({&byte, 1}).blocked();
}

// An idle upstream has nothing to say: it ended, or it speaks without being asked, and what it said
// would be taken for the next answer. Either way it is of no more use. One that was leased earlier
// in this turn is its new owner's.
void Upstream::run() {
  bool idle = Linked<IdleTag>::linked();
  if (idle && (socket.readable() || socket.hung_up())) pool->drop_dead(*this);
}

OriginPool::~OriginPool() {
  close_all();
}

std::unique_ptr<Upstream> OriginPool::lease(std::string_view key) {
  for (;;) {
    auto found = origins_.find(key);
    if (found == origins_.end() || found->second->idle.empty()) return nullptr;
    Upstream& first = found->second->idle.front();
    if (first.socket.readable() || first.socket.hung_up()) {
      drop_dead(first);  // this turn will come to it yet
      continue;
    }
    first.Linked<PoolTag>::unlink();
    first.Linked<IdleTag>::unlink();
    --idle_count_;
    stats_.reused.add();
    first.reused = true;
    return std::unique_ptr<Upstream>(&first);
  }
}

void OriginPool::adopt(Upstream& upstream, std::string_view key) {
  auto found = origins_.find(key);
  if (found == origins_.end()) {
    auto origin = std::make_unique<Origin>();
    origin->key = key;
    std::string_view name = origin->key;
    found = origins_.emplace(name, std::move(origin)).first;
  }
  upstream.pool = this;
  upstream.origin = found->second.get();
  ++upstream.origin->connections;
  stats_.opened.add();
}

void OriginPool::give_back(std::unique_ptr<Upstream> upstream, net::Duration idle_max) {
  HEADRACE_ASSERT(upstream->origin);
  upstream->socket.set_owner(*upstream);
  if (!upstream->is_quiet()) return;  // surplus bytes, or its end
  upstream->expires = loop_.now() + idle_max;
  Upstream& idle = *upstream.release();
  idle.origin->idle.push_front(idle);
  insert_by_expiry(idle);
  if (++idle_count_ > kIdleMax) drop_idle(by_expiry_.front());
  if (!timer_.armed() || timer_.when() > by_expiry_.front().expires)
    loop_.arm_at(timer_, by_expiry_.front().expires);
}

// Listeners have their own limits, mostly the same: the place is at the end or close to it.
void OriginPool::insert_by_expiry(Upstream& upstream) {
  by_expiry_.insert_sorted_from_back(upstream, [](const Upstream& earlier, const Upstream& later) {
    return earlier.expires <= later.expires;
  });
}

void OriginPool::drop_dead(Upstream& upstream) {
  stats_.died_idle.add();
  drop_idle(upstream);
}

void OriginPool::drop_idle(Upstream& upstream) {
  upstream.Linked<PoolTag>::unlink();
  upstream.Linked<IdleTag>::unlink();
  --idle_count_;
  std::unique_ptr<Upstream> last(&upstream);
  last->socket.reset();
}

void OriginPool::close_all() {
  while (!by_expiry_.empty()) drop_idle(by_expiry_.front());
}

void OriginPool::forget(Upstream& upstream) {
  if (--upstream.origin->connections == 0) origins_.erase(origins_.find(upstream.origin->key));
}

void OriginPool::run() {
  while (!by_expiry_.empty() && by_expiry_.front().expires <= loop_.now())
    drop_idle(by_expiry_.front());
  timer_.disarm();
  if (!by_expiry_.empty()) loop_.arm_at(timer_, by_expiry_.front().expires);
}

void make_origin_key(const Target& target, const std::optional<IpAddress>& source,
                     std::string& out) {
  out.clear();
  if (target.host.is_name())
    out += target.host.name();
  else
    out += target.host.to_string();
  out += ':';
  out += std::to_string(target.port);
  if (source) {
    out += " from ";
    out += source->to_string();
  }
}

}  // namespace headrace::session
