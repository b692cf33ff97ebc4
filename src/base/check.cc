#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace headrace {

void assertion_failed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "headrace: assertion failed: %s (%s:%d)\n", expression, file, line);
  std::abort();
}

}  // namespace headrace
