#include "session/listener.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "base/log_line.h"
#include "net/endpoint.h"
#include "net/socket.h"
#include "net/sys.h"
#include "session/session.h"
#include "session/worker.h"

namespace headrace::session {

uint64_t Listener::live() const {
  uint64_t sum = 0;
  for (const Live& live : live_) sum += live.count.load(std::memory_order_relaxed);
  return sum;
}

bool Listener::note_opened(size_t worker) {
  if (options_.max_connections != 0) {
    uint64_t taken = places_taken_.load(std::memory_order_relaxed);
    do {
      if (taken >= options_.max_connections) return false;
    } while (!places_taken_.compare_exchange_weak(taken, taken + 1, std::memory_order_relaxed));
  }
  live_[worker].count.fetch_add(1, std::memory_order_relaxed);
  return true;
}

void Listener::note_closed(size_t worker) {
  live_[worker].count.fetch_sub(1, std::memory_order_relaxed);
  if (options_.max_connections != 0) places_taken_.fetch_sub(1, std::memory_order_relaxed);
}

size_t Listener::choose_worker(size_t worker) const {
  size_t least = worker;
  for (size_t i = 0; i < live_.size(); ++i)
    if (live_of(i) < live_of(least)) least = i;
  uint64_t slack = live_of(least) / 64;
  return live_of(worker) > live_of(least) + slack ? least : worker;
}

Acceptor::Acceptor(Worker& worker, Listener& listener, Handover& handover)
    : worker_(worker), listener_(listener), handover_(handover), watch_(*this), timer_(*this) {}

Result<Done> Acceptor::open(UniqueFd fd) {
  take_reserve();
  // Level-triggered: what a batch leaves is told again, and a lone client costs no second accept.
  Result<Done> added = worker_.loop.add(fd.get(), watch_, EPOLLIN);
  if (!added) return added;
  fd_ = std::move(fd);
  return Done{};
}

void Acceptor::close() {
  timer_.disarm();
  fd_.close();
  for (UniqueFd& reserve : reserve_) reserve.close();
}

void Acceptor::run() {
  if (!fd_) return;
  if (timer_.expired()) {
    timer_.disarm();
    take_reserve();
    (void)worker_.loop.change(fd_.get(), watch_, EPOLLIN);
  }
  if (timer_.armed()) return;
  for (int i = 0; i < batch_; ++i) {
    if (accept_one() == Outcome::accepted) continue;
    batch_ = std::max(i, 1);
    return;
  }
  const uint64_t turn = worker_.loop.turns();
  if (filled_turn_ + 1 == turn) batch_ = std::min(batch_ * 2, kBatchMax);
  filled_turn_ = turn;
}

Acceptor::Outcome Acceptor::accept_one() {
  net::SocketName name;
  std::unique_lock alone(listener_.shed_mutex, std::defer_lock);
  if (listener_.short_of_descriptors.load(std::memory_order_relaxed)) alone.lock();
  UniqueFd client(net::sys::accept(fd_.get(), name.get(), &name.length));
  if (!client) {
    const int os_errno = errno;
    switch (os_errno) {
      case EAGAIN:
        return Outcome::none;
      case EMFILE:
      case ENFILE:
        listener_.short_of_descriptors.store(true, std::memory_order_relaxed);
        if (!alone.owns_lock()) alone.lock();
        return shed_one(os_errno);
      case ENOBUFS:
      case ENOMEM:
        pause(os_errno);
        return Outcome::paused;
      default:
        return Outcome::accepted;  // that client is gone; the next may be fine
    }
  }
  if (alone.owns_lock()) {
    listener_.short_of_descriptors.store(false, std::memory_order_relaxed);
    alone.unlock();
  }
  size_t chosen = listener_.choose_worker(worker_.index);
  // The session's destructor takes it back.
  if (!listener_.note_opened(chosen)) {
    worker_.stats.refused[static_cast<size_t>(Errc::client_limit)].add();
    net::reset_and_close(std::move(client));
    return Outcome::accepted;
  }
  worker_.stats.accepted.add();
  if (chosen != worker_.index) {
    worker_.stats.handed_over.add();
    handover_.hand_over(chosen, listener_, std::move(client), name.endpoint());
    return Outcome::accepted;
  }
  Session::start(worker_, listener_, std::move(client), name.endpoint());
  return Outcome::accepted;
}

// Out of descriptors: the client is accepted in the place of the reserve and closed, so that it
// learns at once instead of waiting in the backlog, and the loop does not spin on what it cannot
// take.
Acceptor::Outcome Acceptor::shed_one(int os_errno) {
  if (!take_reserve()) {
    pause(os_errno);
    return Outcome::paused;
  }
  std::find_if(reserve_.begin(), reserve_.end(), [](const UniqueFd& fd) {
    return bool(fd);
  })->close();
  UniqueFd client(net::sys::accept(fd_.get(), nullptr, nullptr));
  bool shed = static_cast<bool>(client);
  net::reset_and_close(std::move(client));
  take_reserve();
  if (!shed) {
    pause(os_errno);
    return Outcome::paused;
  }
  worker_.stats.shed.add();
  worker_.stats.refused[static_cast<size_t>(Errc::out_of_descriptors)].add();
  worker_.note_shortage(Errc::out_of_descriptors);
  return Outcome::accepted;
}

// Another part of the process may have been faster when it was given up last; then it comes back as
// soon as there is a descriptor again.
bool Acceptor::take_reserve() {
  bool any = false;
  for (UniqueFd& reserve : reserve_) {
    if (!reserve) reserve = UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    any = any || reserve;
  }
  return any;
}

void Acceptor::pause(int os_errno) {
  worker_.note_shortage(errc_of_errno(os_errno));
  (void)worker_.loop.change(fd_.get(), watch_, 0);
  worker_.loop.arm(timer_, kPause);
}

}  // namespace headrace::session
