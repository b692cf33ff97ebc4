#include "net/timer.h"

#include <algorithm>

#include "net/loop.h"

namespace headrace::net {

void TimerWheel::arm(Timer& timer, Instant when) {
  timer.disarm();
  timer.when_ = when;
  insert(timer, now_tick_ + 1);
}

// A timer lies at the lowest level whose turn its tick shares with the present one: level 0 has a
// slot for each of the 64 ticks of this run, level 1 one for each of the 64 runs around it, and so
// on. The highest level goes round: there a tick belongs to the next turn if its slot is not after
// the present one.
void TimerWheel::insert(Timer& timer, uint64_t earliest_tick) {
  constexpr uint64_t kSpan = (uint64_t{1} << (kSlotBits * kLevels)) - 1;
  uint64_t tick = std::clamp(tick_not_before(timer.when_), earliest_tick, now_tick_ + kSpan);
  uint64_t distance = tick ^ now_tick_;
  unsigned level = 0;
  while (level + 1 < kLevels && (distance >> (kSlotBits * (level + 1))) != 0) ++level;
  slots_[level][(tick >> (kSlotBits * level)) % kSlots].push_back(timer);
}

// A run of the level above begins: its timers move down to where they are told apart. Those of the
// tick now beginning are fired right after.
void TimerWheel::cascade(unsigned level) {
  if (level >= kLevels) return;
  uint64_t index = (now_tick_ >> (kSlotBits * level)) % kSlots;
  if (index == 0) cascade(level + 1);
  Slot moving;
  moving.take_all(slots_[level][index]);
  while (!moving.empty()) insert(moving.pop_front(), now_tick_);
}

void TimerWheel::advance(Instant now, Loop& loop) {
  uint64_t target = tick_of(now);
  while (now_tick_ < target) {
    // Nothing to fire on the way: skip to where something may be.
    std::optional<Instant> next_due = next();
    if (!next_due) {
      now_tick_ = target;
      return;
    }
    uint64_t next_tick = tick_of(*next_due);
    if (next_tick > target) {
      now_tick_ = target;
      return;
    }
    now_tick_ = std::max(next_tick, now_tick_ + 1);
    if (now_tick_ % kSlots == 0) cascade(1);
    Slot due;
    due.take_all(slots_[0][now_tick_ % kSlots]);
    while (!due.empty()) {
      Timer& timer = due.pop_front();
      if (tick_not_before(timer.when_) > now_tick_) {
        insert(timer, now_tick_ + 1);  // it lay beyond the wheel's span
        continue;
      }
      timer.expired_ = true;
      loop.make_ready(timer.owner_);
    }
  }
}

std::optional<Instant> TimerWheel::next() const {
  auto occupied = [](const Slot& slot) { return !const_cast<Slot&>(slot).empty(); };
  for (unsigned level = 0; level < kLevels; ++level) {
    unsigned shift = kSlotBits * level;
    uint64_t here = now_tick_ >> shift;
    // The slots after this one, up to the end of the level's turn: its other timers lie in a level
    // above, or, at the highest, in the slots that come round again.
    bool goes_round = level + 1 == kLevels;
    uint64_t last = goes_round ? here + kSlots : here | (kSlots - 1);
    for (uint64_t run = here + 1; run <= last; ++run) {
      if (occupied(slots_[level][run % kSlots]))
        return Instant(kTick * static_cast<int64_t>(run << shift));
    }
  }
  return std::nullopt;
}

}  // namespace headrace::net
