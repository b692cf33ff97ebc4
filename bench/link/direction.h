// One direction of the link, from the arrival of a packet to its departure: its flow's turn,
// chance, the queue with its delay and rate. Knows no devices and no clock, so that it can be
// tested by time.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>

#include "flow_shaper.h"
#include "link_words.h"
#include "random.h"

namespace headrace::link {

struct FlowLimits {
  double rate_bits = 0;  // 0: flows are not told apart
  uint32_t limit_packets = 100;
};

struct DirectionCounts {
  uint64_t packets_in = 0;
  uint64_t bytes_in = 0;
  uint64_t packets_out = 0;
  uint64_t bytes_out = 0;
  uint64_t lost = 0;          // by chance
  uint64_t flow_dropped = 0;  // its flow's queue was full
  uint64_t dropped = 0;       // the queue was full
};

struct Departure {
  int64_t due_ns;
  Packet packet;
};

class Direction {
 public:
  Direction(const LinkWords& words, const FlowLimits& flows, uint64_t seed);

  void arrive(std::span<const uint8_t> packet, int64_t now_ns);
  // When something is to be done next; load::kNever when the link is empty.
  int64_t next_ns() const;
  // The next packet that has left by now, if there is one; to be called until there is none.
  std::optional<Departure> depart(int64_t now_ns);

  const DirectionCounts& counts() const { return counts_; }

 private:
  void enqueue(Packet packet, int64_t now_ns);
  bool is_full(int64_t now_ns) const;

  LinkWords words_;
  std::optional<FlowShaper> shaper_;
  load::Random random_;
  std::deque<Departure> queue_;  // by departure: each leaves after the one before
  DirectionCounts counts_;
};

}  // namespace headrace::link
