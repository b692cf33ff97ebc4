// Assertions about what we wrote ourselves; never about what came from outside. They stay in
// release builds: a proxy that goes on with a broken invariant harms other people's connections.
#pragma once

namespace headrace {
[[noreturn]] void assertion_failed(const char* expression, const char* file, int line);
}  // namespace headrace

#define HEADRACE_ASSERT(expression)    \
  ((expression) ? static_cast<void>(0) \
                : ::headrace::assertion_failed(#expression, __FILE__, __LINE__))
