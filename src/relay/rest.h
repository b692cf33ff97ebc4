// How long a worker rests between two turns. Those it has just served are about to answer, one by
// one, and each answer would interrupt the very work that asks for the next; gathered, they cost
// far less (docs/decisions/0008-rests-between-turns.md).
#pragma once

#include <cstdint>

#include "net/clock.h"

namespace headrace::relay {

class Rest {
 public:
  // From so many events on a turn is crowded.
  static constexpr int kCrowdEvents = 8;
  static constexpr net::Duration kAfterCrowd = std::chrono::microseconds(50);
  // A turn is bulk that moves so much, and so much for each event; one that moves nothing is
  // neither bulk nor its end. Only a row of them makes bulk: the answers of a client that asks for
  // one after the other are not delayed.
  static constexpr uint64_t kBulkTurnBytes = 32 * 1024;
  static constexpr uint64_t kBulkEventBytes = 8 * 1024;
  static constexpr int kBulkTurns = 4;
  static constexpr net::Duration kAfterBulk = std::chrono::microseconds(200);

  // After a turn with so many events, in which so many bytes were passed on. Zero: none.
  net::Duration after_turn(int events, uint64_t moved_bytes);

 private:
  int bulk_turns_ = 0;  // in a row
};

}  // namespace headrace::relay
