// What reading a text of an operator gives: a value, or in words why there is none. Operators read
// the words, so unlike an Error (base/error.h) a Fault carries them; nothing here is on the traffic
// path.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "base/check.h"

namespace headrace::config {

// Continues the name of what it is about: `idle_timeout: "30x" has the unknown unit "x" ...`.
struct Fault {
  std::string reason;
};

template <class T>
class [[nodiscard]] Parsed {
 public:
  Parsed(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit
  Parsed(Fault fault) : state_(std::in_place_index<1>, std::move(fault)) {}  // NOLINT: implicit

  explicit operator bool() const { return state_.index() == 0; }
  const T& operator*() const {
    HEADRACE_ASSERT(state_.index() == 0);
    return *std::get_if<0>(&state_);
  }
  const Fault& fault() const {
    HEADRACE_ASSERT(state_.index() == 1);
    return *std::get_if<1>(&state_);
  }

 private:
  std::variant<T, Fault> state_;
};

}  // namespace headrace::config
