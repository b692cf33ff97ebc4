#include "net/timer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "net/loop.h"

namespace headrace::net {
namespace {

using namespace std::chrono_literals;

// Counts how often its timer fired.
struct Probe final : Runnable {
  Timer timer{*this};
  int fired = 0;

  void run() override {
    if (!timer.expired()) return;
    ++fired;
    timer.disarm();
  }
};

// A wheel, a clock that stands still until moved, and a loop that runs whose timer fired.
class TimerFixture {
 public:
  explicit TimerFixture(Duration uptime = 0s) {
    clock.advance(uptime);
    wheel.emplace(clock.now());
    loop = std::move(*Loop::create(clock));
  }

  void advance(Duration by) {
    clock.advance(by);
    wheel->advance(clock.now(), *loop);
    loop->turn(0s);
  }
  void arm(Probe& probe, Duration after) { wheel->arm(probe.timer, clock.now() + after); }

  ManualClock clock;
  std::optional<TimerWheel> wheel;
  std::unique_ptr<Loop> loop;
};

TEST(timer, fires_once_at_its_time_and_not_before) {
  for (const Duration after :
       std::initializer_list<Duration>{4ms, 8ms, 252ms, 256ms, 260ms, 1s, 17s, 20min, 3h}) {
    TimerFixture f;
    Probe probe;
    f.arm(probe, after);
    f.advance(after - 1us);
    EXPECT_EQ(probe.fired, 0) << after.count();
    f.advance(TimerWheel::kTick);
    EXPECT_EQ(probe.fired, 1) << after.count();
    f.advance(24h);
    EXPECT_EQ(probe.fired, 1) << after.count();
    EXPECT_FALSE(probe.timer.armed());
  }
}

TEST(timer, beyond_the_wheels_span_it_still_fires_at_its_time) {
  TimerFixture f;
  Probe probe;
  f.arm(probe, 30 * 24h);
  for (int hour = 0; hour < 30 * 24 - 1; ++hour) f.advance(1h);
  EXPECT_EQ(probe.fired, 0);
  f.advance(1h + TimerWheel::kTick);
  EXPECT_EQ(probe.fired, 1);
}

TEST(timer, one_that_is_already_due_fires_with_the_next_tick) {
  TimerFixture f(2h);
  Probe probe;
  f.arm(probe, -1h);
  EXPECT_EQ(probe.fired, 0);
  f.advance(TimerWheel::kTick);
  EXPECT_EQ(probe.fired, 1);
}

TEST(timer, arming_again_moves_it_and_disarming_silences_it) {
  TimerFixture f;
  Probe moved;
  Probe silenced;
  f.arm(moved, 1s);
  f.arm(silenced, 1s);
  f.advance(500ms);
  f.arm(moved, 1s);
  silenced.timer.disarm();
  f.advance(996ms);
  EXPECT_EQ(moved.fired, 0);
  f.advance(8ms);
  EXPECT_EQ(moved.fired, 1);
  EXPECT_EQ(silenced.fired, 0);
}

TEST(timer, an_owner_that_dies_takes_its_timer_along) {
  TimerFixture f;
  {
    Probe probe;
    f.arm(probe, 1s);
  }
  EXPECT_FALSE(f.wheel->next().has_value());
  f.advance(2s);
}

TEST(timer, the_wheel_asks_to_be_looked_at_only_while_something_is_armed) {
  TimerFixture f;
  Probe probe;
  EXPECT_FALSE(f.wheel->next().has_value());
  f.arm(probe, 1h);
  ASSERT_TRUE(f.wheel->next().has_value());
  EXPECT_LE(*f.wheel->next(), f.clock.now() + 1h);
  probe.timer.disarm();
  EXPECT_FALSE(f.wheel->next().has_value());
}

// The host's uptime decides where in the wheel a timer lands; these begin just before a level's
// turn ends.
TEST(timer, no_uptime_makes_timers_late) {
  for (const int64_t turn_ticks :
       {int64_t{1} << 6, int64_t{1} << 12, int64_t{1} << 18, int64_t{1} << 24, int64_t{1} << 30}) {
    for (const int64_t ticks_before : {0, 1, 2, 63, 64, 65, 4096}) {
      if (ticks_before >= turn_ticks) continue;
      for (const Duration after : std::initializer_list<Duration>{4ms, 256ms, 20s, 30min, 20h}) {
        TimerFixture f(TimerWheel::kTick * (turn_ticks - ticks_before) - 1s);
        Probe probe;
        f.arm(probe, after);
        f.advance(after - 1ms);
        EXPECT_EQ(probe.fired, 0) << turn_ticks << ' ' << ticks_before << ' ' << after.count();
        f.advance(1ms + TimerWheel::kTick);
        EXPECT_EQ(probe.fired, 1) << turn_ticks << ' ' << ticks_before << ' ' << after.count();
      }
    }
  }
}

// Many timers armed, moved and disarmed at random, against a model that only keeps their ticks.
class TimerModel {
 public:
  TimerModel(unsigned seed, Duration uptime) : random_(seed), f_(uptime), timers_(300) {
    for (Entry& entry : timers_) entry.probe = std::make_unique<Probe>();
  }

  void run(int steps) {
    for (int step = 0; step < steps && !testing::Test::HasFatalFailure(); ++step) {
      for (int i = 0; i < 8; ++i) change(timers_[random_() % timers_.size()]);
      expect_the_wheel_to_ask_in_time();
      f_.advance(next_step());
      expect_the_due_to_have_fired();
    }
  }

 private:
  struct Entry {
    std::unique_ptr<Probe> probe;
    std::optional<int64_t> due_tick;
    int fired = 0;
  };

  int64_t now_tick() const { return f_.clock.now().time_since_epoch() / TimerWheel::kTick; }

  // Of any order of magnitude from microseconds to days.
  Duration any_duration() {
    const uint64_t most = uint64_t{1} << (random_() % 39);
    return Duration(static_cast<int64_t>(random_() % most));
  }

  void change(Entry& entry) {
    entry.due_tick.reset();
    entry.probe->timer.disarm();
    if (random_() % 4 == 0) return;
    const Duration after = any_duration();
    f_.arm(*entry.probe, after);
    const Duration due = (f_.clock.now() + after).time_since_epoch();
    const int64_t not_before = (due + TimerWheel::kTick - 1us) / TimerWheel::kTick;
    entry.due_tick = std::max(not_before, now_tick() + 1);
  }

  // Often exactly as far as the wheel asks for, as the loop does.
  Duration next_step() {
    const std::optional<Instant> next = f_.wheel->next();
    if (next && random_() % 2 == 0) return std::max(Duration(0), *next - f_.clock.now());
    return any_duration();
  }

  void expect_the_wheel_to_ask_in_time() {
    std::optional<int64_t> first;
    for (const Entry& entry : timers_)
      if (entry.due_tick && (!first || *entry.due_tick < *first)) first = entry.due_tick;
    const std::optional<Instant> next = f_.wheel->next();
    ASSERT_EQ(next.has_value(), first.has_value());
    if (first) {
      ASSERT_LE(*next, Instant(TimerWheel::kTick * *first));
    }
  }

  void expect_the_due_to_have_fired() {
    for (Entry& entry : timers_) {
      if (entry.due_tick && *entry.due_tick <= now_tick()) {
        ++entry.fired;
        entry.due_tick.reset();
      }
      ASSERT_EQ(entry.probe->fired, entry.fired);
    }
  }

  std::mt19937_64 random_;
  TimerFixture f_;
  std::vector<Entry> timers_;
};

TEST(timer, random_timers_fire_as_a_model_says) {
  const Duration kUptimes[] = {0s, 18h, TimerWheel::kTick * (1 << 24) - 30s, 400 * 24h};
  for (unsigned seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    TimerModel(seed, kUptimes[seed % std::size(kUptimes)]).run(300);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace headrace::net
