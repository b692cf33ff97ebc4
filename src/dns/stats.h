// What a resolver counts.
#pragma once

#include <cstdint>

namespace headrace::dns {

struct Stats {
  uint64_t names = 0;       // asked for, in all
  uint64_t cache_hits = 0;  // of these, answered without a question to a name server
  uint64_t queries = 0;     // questions sent on their way, A and AAAA counted apart
  uint64_t failures = 0;    // of these, without an answer that means anything
  uint64_t waited = 0;      // names that had to wait since too many others were in flight
  uint64_t evicted = 0;     // names that left the cache to make room
};

}  // namespace headrace::dns
