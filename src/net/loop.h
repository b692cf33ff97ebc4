// The event loop of one worker: epoll, timers, and a list of who is ready.
//
// A turn: wait; note what the kernel says about each watched descriptor; fire timers; then run
// every owner that became ready, once. Nothing of ours runs while events are being noted, so an
// owner may close and free whatever it likes: an event of a dead descriptor cannot reach anyone. An
// owner that spent its budget makes itself ready again and runs in the next turn, after everybody
// else. An owner that wants to do a second thing once all others have done their first runs late in
// the same turn. Before a wait the loop may be told to rest, so that more events gather.
//
// One thread, no locks. Why not a library: docs/decisions/0001-own-event-loop.md.
#pragma once

#include <sys/epoll.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/list.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "net/clock.h"
#include "net/timer.h"

namespace headrace::net {

struct ReadyTag;

// Something that runs when a descriptor, a timer or another part of the worker made it ready. It
// must expect to be run without a reason.
class Runnable : public Linked<ReadyTag> {
 public:
  virtual void run() = 0;

 protected:
  ~Runnable() = default;
};

// One descriptor in the loop and what is known of its readiness. Edge-triggered: the kernel tells
// of a change once, so the flags stay set until an operation has found out that they no longer
// hold.
class Watch {
 public:
  explicit Watch(Runnable& owner) : owner_(&owner) {}
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  bool readable() const { return readable_; }
  bool writable() const { return writable_; }
  // The other side will send no more; what it sent may still wait to be read.
  bool hung_up() const { return hung_up_; }
  // An error is pending on the descriptor (the next operation reports it).
  bool faulty() const { return faulty_; }
  // The other side has used TCP's urgent mechanism. Reads stop at its mark whatever lies behind, so
  // a short one does not tell that nothing is left; splice(2) does not get past the mark at all.
  bool urgent() const { return urgent_; }
  void clear_readable() { readable_ = false; }
  void clear_writable() { writable_ = false; }
  // Who runs from now on; what was noted stays noted.
  void set_owner(Runnable& owner) { owner_ = &owner; }
  Runnable& owner() const { return *owner_; }

 protected:
  friend class Loop;
  void note(uint32_t events);
  void expect_nothing() { readable_ = writable_ = hung_up_ = faulty_ = urgent_ = false; }
  void assume_ready() { readable_ = writable_ = true; }
  void assume_readable() { readable_ = true; }

 private:
  Runnable* owner_;
  // Single bits, so that a Socket has room for a Layer in what would be padding.
  bool readable_ : 1 = false;
  bool writable_ : 1 = false;
  bool hung_up_ : 1 = false;
  bool faulty_ : 1 = false;
  bool urgent_ : 1 = false;
};

class Loop {
 public:
  static constexpr uint32_t kEdges = EPOLLIN | EPOLLOUT | EPOLLPRI | EPOLLRDHUP | EPOLLET;

  // The clock outlives the loop.
  static Result<std::unique_ptr<Loop>> create(const Clock& clock);

  // Read once per turn.
  Instant now() const { return now_; }

  // Registers a descriptor once and for all; it leaves the loop when it is closed.
  Result<Done> add(int fd, Watch& watch, uint32_t events = kEdges);
  // For libraries that own their descriptors (c-ares): level-triggered, changeable, removable.
  Result<Done> change(int fd, Watch& watch, uint32_t events);
  void remove(int fd);

  void arm(Timer& timer, Duration after) { timers_.arm(timer, now_ + after); }
  void arm_at(Timer& timer, Instant when) { timers_.arm(timer, when); }

  void make_ready(Runnable& runnable) {
    if (!runnable.Linked<ReadyTag>::linked()) ready_.push_back(runnable);
  }

  // Runs it once more in this turn, after everyone who is ready has run.
  void run_late(Runnable& runnable) {
    if (!runnable.Linked<ReadyTag>::linked()) late_.push_back(runnable);
  }
  bool late_phase() const { return late_phase_; }

  // One turn; waits at most until the next timer, or `wait_max` if that is sooner.
  void turn(std::optional<Duration> wait_max = std::nullopt);
  uint64_t turns() const { return turns_; }

  // What the last wait brought.
  int events() const { return events_count_; }
  // Sleeps for so long before the next wait, so that more events gather; not if somebody has work
  // left over by then: time would be lost.
  void rest_before_wait(Duration rest) { rest_ = rest; }

 private:
  // One call takes at most so many events; more wait for the next turn.
  static constexpr int kEventsMax = 512;

  Loop(const Clock& clock, UniqueFd epoll);
  int wait_milliseconds(std::optional<Duration> wait_max) const;
  void take_rest();

  const Clock& clock_;
  UniqueFd epoll_;
  Instant now_;
  TimerWheel timers_;
  List<Runnable, ReadyTag> ready_;
  List<Runnable, ReadyTag> late_;
  bool late_phase_ = false;
  int events_count_ = 0;
  Duration rest_{0};
  std::vector<epoll_event> events_;
  uint64_t turns_ = 0;
};

}  // namespace headrace::net
