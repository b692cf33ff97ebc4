// A value or the Error that stood in its way; member names are those of std::expected (C++23).
#pragma once

#include <type_traits>
#include <utility>
#include <variant>

#include "base/check.h"
#include "base/error.h"

namespace headrace {

// The value of an operation that has none: Result<Done>.
struct Done {};

template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value)
      : state_(std::in_place_index<0>, std::move(value)) {}       // NOLINT: implicit by design
  Result(Error error) : state_(std::in_place_index<1>, error) {}  // NOLINT: implicit by design

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  T& value() & {
    HEADRACE_ASSERT(has_value());
    return *std::get_if<0>(&state_);
  }
  const T& value() const& {
    HEADRACE_ASSERT(has_value());
    return *std::get_if<0>(&state_);
  }
  T&& value() && { return std::move(value()); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(value()); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const {
    HEADRACE_ASSERT(!has_value());
    return *std::get_if<1>(&state_);
  }

 private:
  std::variant<T, Error> state_;
};

}  // namespace headrace
