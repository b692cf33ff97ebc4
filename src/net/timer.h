// Timers of one worker: a hierarchical wheel (Varghese and Lauck, 1987). Arming, disarming and
// firing cost constant time; an armed timer lives inside its owner and needs no memory of its own.
//
// A timer that fires makes its owner ready (loop.h); the owner then asks expired(). Owners with a
// deadline that moves on each byte do not re-arm: they store the last activity and look again when
// the timer fires.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/list.h"
#include "net/clock.h"

namespace headrace::net {

class Loop;
class Runnable;
class TimerWheel;
struct TimerTag;

class Timer : public Linked<TimerTag> {
 public:
  explicit Timer(Runnable& owner) : owner_(owner) {}

  bool armed() const { return linked(); }
  // Fired since it was armed last.
  bool expired() const { return expired_; }
  Instant when() const { return when_; }
  void disarm() {
    unlink();
    expired_ = false;
  }

 private:
  friend class TimerWheel;
  Runnable& owner_;
  Instant when_{};
  bool expired_ = false;
};

class TimerWheel {
 public:
  // A timer fires in the first turn after its instant that begins on a tick.
  static constexpr Duration kTick{4'000};

  explicit TimerWheel(Instant start) : now_tick_(tick_of(start)) {}

  // Arms, or moves, the timer.
  void arm(Timer& timer, Instant when);
  // Fires everything due at `now`: each timer's owner becomes ready in `loop`.
  void advance(Instant now, Loop& loop);
  // When the wheel wants to be looked at next, never later than the first timer; nullopt without
  // timers.
  std::optional<Instant> next() const;

 private:
  static constexpr unsigned kSlotBits = 6;
  static constexpr unsigned kSlots = 1u << kSlotBits;
  // 64^4 ticks: 18 hours; later timers are looked at again then.
  static constexpr unsigned kLevels = 4;
  using Slot = List<Timer, TimerTag>;

  static uint64_t tick_of(Instant instant) {
    return static_cast<uint64_t>(instant.time_since_epoch() / kTick);
  }
  static uint64_t tick_not_before(Instant instant) {
    return tick_of(instant + kTick - Duration(1));
  }
  void insert(Timer& timer, uint64_t earliest_tick);
  void cascade(unsigned level);

  uint64_t now_tick_;
  std::array<std::array<Slot, kSlots>, kLevels> slots_;
};

}  // namespace headrace::net
