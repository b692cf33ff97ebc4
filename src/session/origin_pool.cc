#include "session/origin_pool.h"

namespace headrace::session {

Upstream::~Upstream() {
  if (pool) pool->forget(*this);
}

// An idle upstream has nothing to say: it ended, or it speaks without being asked, and what it said
// would be taken for the next answer. Either way it is of no more use.
void Upstream::run() {
  if (pool && (socket.readable() || socket.hung_up())) {
    pool->stats_.died_idle.add();
    pool->drop_idle(*this);
  }
}

OriginPool::~OriginPool() { close_all(); }

std::unique_ptr<Upstream> OriginPool::lease(std::string_view key) {
  auto found = origins_.find(key);
  if (found == origins_.end() || found->second->idle.empty()) return nullptr;
  std::unique_ptr<Upstream> upstream(&found->second->idle.pop_front());
  upstream->Linked<IdleTag>::unlink();
  --idle_count_;
  stats_.reused.add();
  upstream->reused = true;
  return upstream;
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

void OriginPool::give_back(std::unique_ptr<Upstream> upstream) {
  HEADRACE_ASSERT(upstream->origin);
  upstream->socket.set_owner(*upstream);
  if (upstream->socket.readable() || upstream->socket.hung_up()) return;  // surplus bytes, or its end
  upstream->idle_since = loop_.now();
  if (by_age_.empty()) loop_.arm(timer_, idle_timeout_);
  Upstream& idle = *upstream.release();
  idle.origin->idle.push_front(idle);
  by_age_.push_back(idle);
  if (++idle_count_ > kIdleMax) drop_idle(by_age_.front());
}

void OriginPool::drop_idle(Upstream& upstream) {
  upstream.Linked<PoolTag>::unlink();
  upstream.Linked<IdleTag>::unlink();
  --idle_count_;
  std::unique_ptr<Upstream> last(&upstream);
  last->socket.reset();
}

void OriginPool::close_all() {
  while (!by_age_.empty()) drop_idle(by_age_.front());
}

void OriginPool::forget(Upstream& upstream) {
  if (--upstream.origin->connections == 0) origins_.erase(upstream.origin->key);
}

void OriginPool::run() {
  while (!by_age_.empty() && by_age_.front().idle_since + idle_timeout_ <= loop_.now())
    drop_idle(by_age_.front());
  timer_.disarm();
  if (!by_age_.empty()) loop_.arm_at(timer_, by_age_.front().idle_since + idle_timeout_);
}

void make_origin_key(const Target& target, const std::optional<IpAddress>& source, std::string& out) {
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
