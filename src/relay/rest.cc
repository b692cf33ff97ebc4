#include "relay/rest.h"

#include <algorithm>

namespace headrace::relay {

net::Duration Rest::after_turn(int events, uint64_t moved_bytes) {
  const uint64_t bulk_bytes =
      std::max(kBulkTurnBytes, kBulkEventBytes * static_cast<uint64_t>(events));
  if (moved_bytes >= bulk_bytes) {
    bulk_turns_ = std::min(bulk_turns_ + 1, kBulkTurns);
    if (bulk_turns_ == kBulkTurns) return kAfterBulk;
  } else if (moved_bytes != 0) {
    bulk_turns_ = 0;
  }
  return events >= kCrowdEvents ? kAfterCrowd : net::Duration(0);
}

}  // namespace headrace::relay
