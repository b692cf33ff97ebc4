#include "net/loop.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace headrace::net {
namespace {

using namespace std::chrono_literals;

// Runs what the test says, and keeps count.
struct Probe final : Runnable {
  std::function<void()> on_run;
  int runs = 0;

  void run() override {
    ++runs;
    if (on_run) on_run();
  }
};

// One end of a socket pair in the loop.
struct WatchedEnd {
  Probe owner;
  Watch watch{owner};
  UniqueFd fd;
};

class LoopTest : public testing::Test {
 protected:
  LoopTest() : loop_(std::move(*Loop::create(clock_))) {}

  // Gives the other end of the pair, which is not in the loop.
  UniqueFd open(WatchedEnd& end) {
    int fds[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    end.fd = UniqueFd(fds[0]);
    EXPECT_TRUE(loop_->add(end.fd.get(), end.watch));
    return UniqueFd(fds[1]);
  }
  void turn() { loop_->turn(0s); }

  ManualClock clock_;
  std::unique_ptr<Loop> loop_;
};

void write_to(const UniqueFd& fd, const std::string& text) {
  ASSERT_EQ(::write(fd.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

TEST_F(LoopTest, a_new_descriptor_tells_its_state_once) {
  WatchedEnd end;
  const UniqueFd other = open(end);
  turn();
  EXPECT_EQ(end.owner.runs, 1);
  EXPECT_TRUE(end.watch.writable());
  EXPECT_FALSE(end.watch.readable());
  turn();
  EXPECT_EQ(end.owner.runs, 1);
}

TEST_F(LoopTest, what_is_readable_stays_so_until_somebody_found_out_otherwise) {
  WatchedEnd end;
  const UniqueFd other = open(end);
  turn();
  write_to(other, "x");
  turn();
  EXPECT_EQ(end.owner.runs, 2);
  EXPECT_TRUE(end.watch.readable());
  turn();
  EXPECT_EQ(end.owner.runs, 2);
  EXPECT_TRUE(end.watch.readable());
  end.watch.clear_readable();
  write_to(other, "y");
  turn();
  EXPECT_EQ(end.owner.runs, 3);
  EXPECT_TRUE(end.watch.readable());
}

TEST_F(LoopTest, the_other_sides_end_makes_it_readable_and_hung_up) {
  WatchedEnd half;
  WatchedEnd whole;
  const UniqueFd other_half = open(half);
  UniqueFd other_whole = open(whole);
  ::shutdown(other_half.get(), SHUT_WR);
  other_whole.close();
  turn();
  for (const WatchedEnd* end : {&half, &whole}) {
    EXPECT_TRUE(end->watch.readable());
    EXPECT_TRUE(end->watch.hung_up());
  }
}

TEST_F(LoopTest, several_events_of_an_owner_are_one_run) {
  Probe owner;
  Watch first(owner);
  Watch second(owner);
  const UniqueFd a(::eventfd(1, EFD_NONBLOCK));
  const UniqueFd b(::eventfd(1, EFD_NONBLOCK));
  ASSERT_TRUE(loop_->add(a.get(), first));
  ASSERT_TRUE(loop_->add(b.get(), second));
  turn();
  EXPECT_EQ(owner.runs, 1);
  EXPECT_TRUE(first.readable());
  EXPECT_TRUE(second.readable());
}

TEST_F(LoopTest, an_owner_may_free_another_that_is_ready_in_the_same_turn) {
  auto first = std::make_unique<WatchedEnd>();
  auto second = std::make_unique<WatchedEnd>();
  const UniqueFd other_first = open(*first);
  const UniqueFd other_second = open(*second);
  int runs = 0;
  // Whoever runs first frees the other.
  first->owner.on_run = [&] { ++runs, second.reset(); };
  second->owner.on_run = [&] { ++runs, first.reset(); };
  turn();
  EXPECT_EQ(runs, 1);
  EXPECT_NE(first == nullptr, second == nullptr);
}

TEST_F(LoopTest, who_makes_himself_ready_runs_again_in_the_next_turn_after_the_others) {
  std::vector<std::string> order;
  Probe busy;
  Probe other;
  busy.on_run = [&] {
    order.push_back("busy");
    if (busy.runs < 3) loop_->make_ready(busy);
  };
  other.on_run = [&] { order.push_back("other"); };
  loop_->make_ready(busy);
  loop_->make_ready(other);
  turn();
  EXPECT_EQ(order, (std::vector<std::string>{"busy", "other"}));
  turn();
  turn();
  turn();
  EXPECT_EQ(busy.runs, 3);
  EXPECT_EQ(other.runs, 1);
}

TEST_F(LoopTest, someone_ready_is_not_kept_waiting_for_events) {
  Probe probe;
  loop_->make_ready(probe);
  loop_->turn();  // would wait for ever
  EXPECT_EQ(probe.runs, 1);
}

TEST_F(LoopTest, making_ready_twice_is_one_run) {
  Probe probe;
  loop_->make_ready(probe);
  loop_->make_ready(probe);
  turn();
  turn();
  EXPECT_EQ(probe.runs, 1);
}

TEST_F(LoopTest, late_work_is_done_in_the_same_turn_after_everyone_has_run) {
  std::vector<std::string> order;
  Probe early;
  Probe other;
  early.on_run = [&] {
    order.push_back(loop_->late_phase() ? "late" : "early");
    if (!loop_->late_phase()) loop_->run_late(early);
  };
  other.on_run = [&] { order.push_back("other"); };
  loop_->make_ready(early);
  loop_->make_ready(other);
  turn();
  EXPECT_EQ(order, (std::vector<std::string>{"early", "other", "late"}));
  EXPECT_FALSE(loop_->late_phase());
}

TEST_F(LoopTest, time_stands_still_during_a_turn) {
  const Instant start = loop_->now();
  Probe probe;
  probe.on_run = [&] {
    clock_.advance(1s);
    EXPECT_EQ(loop_->now(), start);
  };
  loop_->make_ready(probe);
  turn();
  EXPECT_EQ(loop_->now(), start);
  turn();
  EXPECT_EQ(loop_->now(), start + 1s);
}

TEST_F(LoopTest, a_timer_makes_its_owner_run) {
  Probe probe;
  Timer timer(probe);
  loop_->arm(timer, 10s);
  clock_.advance(9s);
  turn();
  EXPECT_EQ(probe.runs, 0);
  clock_.advance(2s);
  turn();
  EXPECT_EQ(probe.runs, 1);
  EXPECT_TRUE(timer.expired());
}

TEST_F(LoopTest, a_level_triggered_descriptor_tells_again_until_removed) {
  Probe owner;
  Watch watch(owner);
  const UniqueFd fd(::eventfd(1, EFD_NONBLOCK));
  ASSERT_TRUE(loop_->add(fd.get(), watch, EPOLLIN));
  turn();
  turn();
  EXPECT_EQ(owner.runs, 2);
  ASSERT_TRUE(loop_->change(fd.get(), watch, 0));
  turn();
  EXPECT_EQ(owner.runs, 2);
  ASSERT_TRUE(loop_->change(fd.get(), watch, EPOLLIN));
  turn();
  EXPECT_EQ(owner.runs, 3);
  loop_->remove(fd.get());
  turn();
  EXPECT_EQ(owner.runs, 3);
}

TEST_F(LoopTest, what_cannot_be_watched_is_an_error) {
  Probe owner;
  Watch watch(owner);
  const Result<Done> added = loop_->add(-1, watch);
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().os_errno, EBADF);
  EXPECT_EQ(added.error().whose, Side::local);
}

TEST(loop, waits_no_longer_than_the_next_timer) {
  SystemClock clock;
  std::unique_ptr<Loop> loop = std::move(*Loop::create(clock));
  Probe probe;
  Timer timer(probe);
  const Instant start = loop->now();
  loop->arm(timer, 20ms);
  while (probe.runs == 0) loop->turn();  // would hang if the loop forgot its timer
  EXPECT_GE(loop->now() - start, 20ms);
  EXPECT_LE(loop->turns(), 3u);  // and does not spin
}

}  // namespace
}  // namespace headrace::net
