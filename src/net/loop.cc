#include "net/loop.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <ctime>
#include <utility>

#include "net/sys.h"

namespace headrace::net {

void Watch::note(uint32_t events) {
  // A hang-up or an error makes both operations worth trying: they will report it.
  constexpr uint32_t kOver = EPOLLHUP | EPOLLERR;
  if (events & (EPOLLIN | EPOLLRDHUP | kOver)) readable_ = true;
  if (events & (EPOLLOUT | kOver)) writable_ = true;
  if (events & (EPOLLRDHUP | kOver)) hung_up_ = true;
  if (events & EPOLLERR) faulty_ = true;
  if (events & EPOLLPRI) urgent_ = true;
}

Result<std::unique_ptr<Loop>> Loop::create(const Clock& clock) {
  UniqueFd epoll(epoll_create1(EPOLL_CLOEXEC));
  if (!epoll) return Error{errc_of_errno(errno), Side::local, errno};
  return std::unique_ptr<Loop>(new Loop(clock, std::move(epoll)));
}

Loop::Loop(const Clock& clock, UniqueFd epoll)
    : clock_(clock),
      epoll_(std::move(epoll)),
      now_(clock.now()),
      timers_(now_),
      events_(kEventsMax) {}

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

void Loop::take_rest() {
  const Duration rest = std::exchange(rest_, Duration(0));
  if (rest == Duration(0) || !ready_.empty()) return;
  const timespec time{0, std::chrono::nanoseconds(rest).count()};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr);
}

void Loop::turn(std::optional<Duration> wait_max) {
  take_rest();
  int count =
      sys::epoll_wait(epoll_.get(), events_.data(), kEventsMax, wait_milliseconds(wait_max));
  HEADRACE_ASSERT(count >= 0 || errno == EINTR);
  now_ = clock_.now();
  ++turns_;
  events_count_ = count;
  for (int i = 0; i < count; ++i) {
    Watch& watch = *static_cast<Watch*>(events_[i].data.ptr);
    watch.note(events_[i].events);
    make_ready(*watch.owner_);
  }
  timers_.advance(now_, *this);

  List<Runnable, ReadyTag> running;
  running.take_all(ready_);
  while (!running.empty()) running.pop_front().run();
  late_phase_ = true;
  running.take_all(late_);
  while (!running.empty()) running.pop_front().run();
  late_phase_ = false;
}

}  // namespace headrace::net
