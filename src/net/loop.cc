#include "net/loop.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <ctime>

#include "net/ring.h"
#include "net/sys.h"

namespace headrace::net {

void Watch::note(uint32_t events) {
  // A hang-up or an error makes both operations worth trying: they will report it.
  constexpr uint32_t kOver = EPOLLHUP | EPOLLERR;
  if (events & (EPOLLIN | EPOLLRDHUP | kOver)) readable_ = !receiving_;
  if (events & (EPOLLOUT | kOver)) writable_ = true;
  if (events & (EPOLLRDHUP | kOver)) hung_up_ = true;
  if (events & EPOLLERR) faulty_ = true;
  if (events & EPOLLPRI) urgent_ = true;
}

Result<std::unique_ptr<Loop>> Loop::create(const Clock& clock, Engine engine) {
  UniqueFd epoll(epoll_create1(EPOLL_CLOEXEC));
  if (!epoll) return Error{errc_of_errno(errno), Side::local, errno};
  std::unique_ptr<Loop> loop(new Loop(clock, std::move(epoll)));
  if (engine == Engine::epoll) return loop;
  loop->insists_on_ring_ = engine == Engine::io_uring;
  Result<std::unique_ptr<Ring>> ring = Ring::create(*loop, loop->epoll_.get());
  if (ring)
    loop->ring_ = std::move(*ring);
  else if (engine == Engine::io_uring)
    return ring.error();
  else
    loop->ring_errno_ = ring.error().os_errno;
  return loop;
}

Loop::Loop(const Clock& clock, UniqueFd epoll)
    : clock_(clock),
      epoll_(std::move(epoll)),
      now_(clock.now()),
      timers_(now_),
      events_(kEventsMax) {}

Loop::~Loop() = default;

Result<Done> Loop::add(int fd, Watch& watch, uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.ptr = &watch;
  if (sys::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
    return Error{errc_of_errno(errno), Side::local, errno};
  return Done{};
}

Result<Done> Loop::change(int fd, Watch& watch, uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.ptr = &watch;
  if (sys::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event) != 0)
    return Error{errc_of_errno(errno), Side::local, errno};
  return Done{};
}

void Loop::remove(int fd) {
  sys::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

int Loop::wait_milliseconds(std::optional<Duration> wait_max) const {
  if (!const_cast<List<Runnable, ReadyTag>&>(ready_).empty()) return 0;
  std::optional<Duration> wait = wait_max;
  if (std::optional<Instant> next = timers_.next()) {
    Duration until = std::max(Duration(0), *next - now_);
    wait = wait ? std::min(*wait, until) : until;
  }
  if (!wait) return -1;
  auto milliseconds = (wait->count() + 999) / 1000;
  return static_cast<int>(std::min<int64_t>(milliseconds, INT_MAX));
}

// Not while somebody has more to do: time would be lost.
void Loop::rest_after_crowd() {
  if (last_events_ < kCrowdEvents || !ready_.empty()) return;
  const timespec rest{0, std::chrono::nanoseconds(kRest).count()};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &rest, nullptr);
}

// What the ring has brought is noted on the way; the events of epoll are left to the caller.
int Loop::wait_for_events(int wait_milliseconds) {
  last_events_ = 0;
  if (ring_ && ring_->in_use()) {
    const bool epoll_has_events = ring_->turn(wait_milliseconds);
    last_events_ = ring_->completions();
    if (!epoll_has_events) return 0;
    wait_milliseconds = 0;
  }
  int count = sys::epoll_wait(epoll_.get(), events_.data(), kEventsMax, wait_milliseconds);
  HEADRACE_ASSERT(count >= 0 || errno == EINTR);
  last_events_ += std::max(count, 0);
  return count;
}

void Loop::turn(std::optional<Duration> wait_max) {
  if (wait_max != Duration(0)) rest_after_crowd();
  int count = wait_for_events(wait_milliseconds(wait_max));
  now_ = clock_.now();
  ++turns_;
  for (int i = 0; i < count; ++i) {
    note(*static_cast<Watch*>(events_[i].data.ptr), events_[i].events);
  }
  timers_.advance(now_, *this);

  List<Runnable, ReadyTag> running;
  running.take_all(ready_);
  while (!running.empty()) running.pop_front().run();
  late_phase_ = true;
  running.take_all(late_);
  while (!running.empty()) running.pop_front().run();
  late_phase_ = false;
  if (ring_ && ring_->sending()) ring_->send_all();
}

}  // namespace headrace::net
