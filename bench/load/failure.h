// How an exchange can fail, as the results count it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace headrace::load {

enum class Failure : uint8_t {
  connect,  // no connection, no TLS, no tunnel
  reset,    // broken before the first byte of an answer
  cut,      // ended inside an answer ("short" in the results)
  wrong,    // another length, status or content than asked for
  timeout,  // not answered in time
};
inline constexpr size_t kFailures = 5;

}  // namespace headrace::load
