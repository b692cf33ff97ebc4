// Faults by seed, for tests: the same seed gives each thread the same faults at the same calls.
#pragma once

#include <cstdint>

namespace headrace::net::sys {

struct FaultPlan {
  uint64_t seed = 1;
  // Of 1000 calls, how many go wrong; 0 leaves everything as it is.
  unsigned short_permille = 0;  // reads, writes and splices of fewer bytes than could be
  unsigned again_permille = 0;  // EAGAIN where there was something (told again by the next wait)
  unsigned interrupt_permille = 0;  // EINTR
  unsigned shortage_permille = 0;   // EMFILE, ENFILE, ENOBUFS, ECONNABORTED, by the call
};

// From now on, in this thread.
void set_fault_plan(const FaultPlan& plan);
uint64_t injected_faults();

}  // namespace headrace::net::sys
