// What a protocol parser answers: a value and how many bytes it took, an error, or "need more".
// Parsers are pure: bytes in, value out; no descriptor, no clock, no waiting. A caller that is told
// need_more keeps the bytes, appends what comes next and asks again.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/error.h"

namespace headrace {

template <class T>
class [[nodiscard]] Parse {
 public:
  static Parse need_more() { return Parse(); }
  static Parse done(T value, size_t consumed_bytes) {
    Parse parse;
    parse.value_.emplace(std::move(value));
    parse.consumed_bytes_ = consumed_bytes;
    return parse;
  }
  // Parsers see what the other side sent, so `whose` is for the caller to know: it is set by him.
  static Parse fail(Errc what) {
    Parse parse;
    parse.error_ = what;
    return parse;
  }

  bool needs_more() const { return !value_ && !error_; }
  bool failed() const { return error_.has_value(); }
  explicit operator bool() const { return value_.has_value(); }

  Errc error() const {
    HEADRACE_ASSERT(error_.has_value());
    return *error_;
  }
  size_t consumed_bytes() const { return consumed_bytes_; }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  Parse() = default;

  std::optional<T> value_;
  std::optional<Errc> error_;
  size_t consumed_bytes_ = 0;
};

}  // namespace headrace
