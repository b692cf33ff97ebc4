// The process can open so many more descriptors and no more, while this lives.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <vector>

#include "base/check.h"
#include "base/unique_fd.h"

namespace headrace::io {

class DescriptorLimit {
 public:
  explicit DescriptorLimit(size_t more) {
    HEADRACE_ASSERT(::getrlimit(RLIMIT_NOFILE, &before_) == 0);
    // New descriptors take the lowest free numbers, which are those that these leave.
    std::vector<UniqueFd> next;
    for (size_t i = 0; i <= more; ++i) {
      next.emplace_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
      HEADRACE_ASSERT(next.back());
    }
    rlimit limit = before_;
    limit.rlim_cur = static_cast<rlim_t>(next.back().get());
    HEADRACE_ASSERT(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
  }
  ~DescriptorLimit() { lift(); }
  DescriptorLimit(const DescriptorLimit&) = delete;
  DescriptorLimit& operator=(const DescriptorLimit&) = delete;

  void lift() { HEADRACE_ASSERT(::setrlimit(RLIMIT_NOFILE, &before_) == 0); }

 private:
  rlimit before_{};
};

}  // namespace headrace::io
