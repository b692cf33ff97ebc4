// The forms of coroutines that this tree uses, proved on each compiler that builds it: every object
// that is built in them is destroyed exactly once, whether the coroutine ends or is cancelled. What
// is not here is refused by tools/check_coroutines.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/result.h"
#include "net/task.h"

namespace headrace::net {
namespace {

// Knows where its living instances are, so that one destroyed twice, or never, is noticed.
class Tracked {
 public:
  explicit Tracked(int value) : value_(value) { born(); }
  Tracked(const Tracked& other) : value_(other.value_) { born(); }
  Tracked(Tracked&& other) noexcept : value_(std::exchange(other.value_, 0)) { born(); }
  Tracked& operator=(const Tracked&) = default;
  Tracked& operator=(Tracked&&) = default;
  ~Tracked() {
    if (living.erase(this) == 0) ++destroyed_twice;
  }
  int value() const { return value_; }

  inline static std::set<const Tracked*> living;
  inline static int destroyed_twice = 0;

 private:
  void born() {
    if (!living.insert(this).second) ++destroyed_twice;  // one lived here and was not destroyed
  }
  int value_;
  std::string text_ = std::string(100, 'x');  // for AddressSanitizer's sake
};

class CoroutineForms : public testing::Test {
 protected:
  CoroutineForms() {
    Tracked::living.clear();
    Tracked::destroyed_twice = 0;
  }
  ~CoroutineForms() override {
    EXPECT_EQ(Tracked::destroyed_twice, 0);
    EXPECT_TRUE(Tracked::living.empty()) << Tracked::living.size();
    EXPECT_EQ(live_frames, 0u);
  }

  // Starts the task and resumes it until it is done.
  void run(Task<void> task) {
    task.start();
    while (slot_.occupied()) slot_.resume();
    EXPECT_TRUE(task.done());
  }
  // Starts the task, resumes it `resumptions` times, and destroys it where it then waits.
  void run_and_cancel(Task<void> task, int resumptions) {
    task.start();
    for (int i = 0; i < resumptions; ++i) slot_.resume();
    EXPECT_FALSE(task.done());
  }

  WaitSlot slot_;
  int sum_ = 0;
};

// ---- what is awaited ----

Task<Tracked> echo(WaitSlot& slot, Tracked value) {
  co_await slot;
  co_return value;
}

Task<Result<Tracked>> checked(WaitSlot& slot, const Tracked& value) {
  co_await slot;
  if (value.value() < 0) co_return Error{Errc::malformed, Side::client};
  co_return value;
}

Task<std::unique_ptr<Tracked>> boxed(WaitSlot& slot, std::unique_ptr<Tracked> value) {
  co_await slot;
  co_return std::move(value);
}

Task<int> immediately(int value) {
  co_return value;
}

// ---- forms ----

Task<void> named_arguments(WaitSlot& slot, int& sum) {
  Tracked value(1);
  Tracked copied = co_await echo(slot, value);
  Tracked moved = co_await echo(slot, std::move(value));
  sum = copied.value() + moved.value();
}

TEST_F(CoroutineForms, named_arguments_and_named_results) {
  run(named_arguments(slot_, sum_));
  EXPECT_EQ(sum_, 2);
}

TEST_F(CoroutineForms, cancelled_at_each_wait) {
  for (int resumptions = 0; resumptions < 2; ++resumptions)
    run_and_cancel(named_arguments(slot_, sum_), resumptions);
}

Task<void> results(WaitSlot& slot, int& sum) {
  Tracked good(5);
  Tracked bad(-1);
  Result<Tracked> first = co_await checked(slot, good);
  if (first) sum += first->value();
  Result<Tracked> second = co_await checked(slot, bad);
  if (!second && second.error().what == Errc::malformed) sum += 100;
}

TEST_F(CoroutineForms, results_and_returned_braces) {
  run(results(slot_, sum_));
  EXPECT_EQ(sum_, 105);
  run_and_cancel(results(slot_, sum_), 1);
}

Task<void> move_only(WaitSlot& slot, int& sum) {
  auto value = std::make_unique<Tracked>(7);
  std::unique_ptr<Tracked> back = co_await boxed(slot, std::move(value));
  sum = back->value() + (value ? 100 : 0);
}

TEST_F(CoroutineForms, values_that_only_move) {
  run(move_only(slot_, sum_));
  EXPECT_EQ(sum_, 7);
  run_and_cancel(move_only(slot_, sum_), 0);
}

Tracked made(int value) {
  return Tracked(value);
}

Task<void> results_of_calls(WaitSlot& slot, int& sum) {
  Tracked first = co_await echo(slot, made(3));
  sum += first.value();
  sum += (co_await echo(slot, made(4))).value();
}

TEST_F(CoroutineForms, results_of_calls_as_arguments) {
  run(results_of_calls(slot_, sum_));
  EXPECT_EQ(sum_, 7);
  for (int resumptions = 0; resumptions < 2; ++resumptions)
    run_and_cancel(results_of_calls(slot_, sum_), resumptions);
}

Task<bool> positive(WaitSlot& slot, const Tracked& value) {
  co_await slot;
  co_return value.value() > 0;
}

Task<void> conditions(WaitSlot& slot, int& sum) {
  Tracked countdown(3);
  while (co_await positive(slot, countdown)) {
    Tracked inside(countdown.value());
    sum += inside.value();
    if (!co_await positive(slot, inside)) co_return;
    countdown = Tracked(countdown.value() - 1);
  }
  if (co_await positive(slot, countdown)) sum += 100;
}

TEST_F(CoroutineForms, awaits_in_conditions_and_loops) {
  run(conditions(slot_, sum_));
  EXPECT_EQ(sum_, 6);
  for (int resumptions = 0; resumptions < 7; ++resumptions)
    run_and_cancel(conditions(slot_, sum_), resumptions);
}

Task<void> branches(WaitSlot& slot, int kind, int& sum) {
  const Tracked outer(10);
  switch (kind) {
    case 0:
      co_await slot;
      break;
    case 1: {
      Tracked inner(1);
      Tracked back = co_await echo(slot, inner);
      sum += back.value();
      break;
    }
    default: {
      Tracked inner(2);
      if (kind == 2) co_return;
      co_await slot;
      sum += inner.value();
    }
  }
  sum += outer.value();
}

TEST_F(CoroutineForms, scopes_are_left_in_order_by_every_way_out) {
  for (int kind = 0; kind < 4; ++kind) run(branches(slot_, kind, sum_));
  EXPECT_EQ(sum_, 10 + 11 + 0 + 12);
  for (const int kind : {0, 1, 3}) run_and_cancel(branches(slot_, kind, sum_), 0);
}

Task<Tracked> returned_directly(WaitSlot& slot) {
  co_return co_await echo(slot, made(9));
}

Task<void> nested(WaitSlot& slot, int& sum) {
  Tracked value = co_await returned_directly(slot);
  sum = value.value();
}

TEST_F(CoroutineForms, tasks_in_tasks) {
  run(nested(slot_, sum_));
  EXPECT_EQ(sum_, 9);
  run_and_cancel(nested(slot_, sum_), 0);
}

TEST_F(CoroutineForms, lambdas_without_captures) {
  auto coroutine = [](WaitSlot& slot, int& sum) -> Task<void> {
    Tracked value(8);
    Tracked back = co_await echo(slot, value);
    sum = back.value();
  };
  run(coroutine(slot_, sum_));
  EXPECT_EQ(sum_, 8);
}

Task<void> many(int& sum) {
  for (int i = 0; i < 1000; ++i) sum += co_await immediately(1);
}

TEST_F(CoroutineForms, tasks_that_do_not_wait) {
  run(many(sum_));
  EXPECT_EQ(sum_, 1000);
}

Task<void> noted(WaitSlot& slot, std::string& order) {
  struct Note {
    std::string& order;
    char name;
    ~Note() { order += name; }
  };
  const Note first{order, 'a'};
  const Note second{order, 'b'};
  co_await slot;
  const Note third{order, 'c'};
  co_await slot;
}

TEST_F(CoroutineForms, a_cancelled_coroutine_destroys_what_it_had_built_in_reverse) {
  std::string order;
  run_and_cancel(noted(slot_, order), 0);
  EXPECT_EQ(order, "ba");
  order.clear();
  run_and_cancel(noted(slot_, order), 1);
  EXPECT_EQ(order, "cba");
  order.clear();
  run(noted(slot_, order));
  EXPECT_EQ(order, "cba");
}

TEST_F(CoroutineForms, a_task_that_was_never_started_frees_its_arguments) {
  {
    const Task<Tracked> task = echo(slot_, made(1));
    EXPECT_EQ(live_frames, 1u);
    EXPECT_EQ(Tracked::living.size(), 1u);
  }
}

TEST_F(CoroutineForms, a_task_given_to_another_owner_frees_the_one_before) {
  Task<void> task = named_arguments(slot_, sum_);
  task.start();
  task = Task<void>();
  EXPECT_TRUE(task.done());
  EXPECT_EQ(live_frames, 0u);
}

}  // namespace
}  // namespace headrace::net
