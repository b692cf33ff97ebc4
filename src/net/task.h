// A phase of a session as a coroutine: lazily started, awaited by its caller, freed when it is
// done.
//
// The forms that g++ 12 and later compilers get right are listed in style-guide section 3 and
// proved in tests/unit/net/coroutine_forms_test.cc; tools/check_coroutines refuses the others.
#pragma once

#include <coroutine>
#include <cstdlib>
#include <optional>
#include <utility>

#include "base/check.h"

namespace headrace::net {

// Frames alive in this thread; zero when all sessions are gone (tests and shutdown look).
inline thread_local size_t live_frames = 0;

template <class T>
class [[nodiscard]] Task;

namespace detail {

struct PromiseBase {
  std::coroutine_handle<> caller;

  PromiseBase() { ++live_frames; }
  PromiseBase(const PromiseBase&) = delete;
  PromiseBase& operator=(const PromiseBase&) = delete;
  ~PromiseBase() { --live_frames; }

  std::suspend_always initial_suspend() noexcept { return {}; }
  void unhandled_exception() noexcept { std::abort(); }

  // Hands over to whoever awaited us; the outermost task just stops.
  struct FinalAwaiter {
    bool await_ready() noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> self) noexcept {
      std::coroutine_handle<> next = self.promise().caller;
      return next ? next : std::noop_coroutine();
    }
    void await_resume() noexcept {}
  };
  FinalAwaiter final_suspend() noexcept { return {}; }
};

}  // namespace detail

template <class T>
class [[nodiscard]] Task {
 public:
  struct promise_type : detail::PromiseBase {
    std::optional<T> value;
    Task get_return_object() { return Task(Handle::from_promise(*this)); }
    void return_value(T result) { value.emplace(std::move(result)); }
  };
  using Handle = std::coroutine_handle<promise_type>;

  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) noexcept {
    handle_.promise().caller = caller;
    return handle_;
  }
  T await_resume() { return std::move(*handle_.promise().value); }

 private:
  explicit Task(Handle handle) : handle_(handle) {}
  Handle handle_;
};

template <>
class [[nodiscard]] Task<void> {
 public:
  struct promise_type : detail::PromiseBase {
    Task get_return_object() { return Task(Handle::from_promise(*this)); }
    void return_void() noexcept {}
  };
  using Handle = std::coroutine_handle<promise_type>;

  Task() = default;
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task& operator=(Task&& other) noexcept {
    if (handle_) handle_.destroy();
    handle_ = std::exchange(other.handle_, {});
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) noexcept {
    handle_.promise().caller = caller;
    return handle_;
  }
  void await_resume() noexcept {}

  // For the owner of the outermost task.
  void start() { handle_.resume(); }
  bool done() const { return !handle_ || handle_.done(); }

 private:
  explicit Task(Handle handle) : handle_(handle) {}
  Handle handle_;
};

// Where a coroutine waits. The owner resumes it when something happened; the coroutine then looks
// whether it was what it waited for, and if not waits again. One wait at a time.
class WaitSlot {
 public:
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiting) noexcept { waiting_ = waiting; }
  void await_resume() const noexcept {}

  bool occupied() const { return static_cast<bool>(waiting_); }
  void resume() {
    HEADRACE_ASSERT(occupied());
    std::exchange(waiting_, {}).resume();
  }

 private:
  std::coroutine_handle<> waiting_;
};

}  // namespace headrace::net
