// Lets each flow pass at a rate of its own, as fq does with maxrate: a packet goes when the one
// before it has been long enough on a wire of that rate. No clock of its own; times are given.
#pragma once

#include <cstdint>
#include <optional>
#include <queue>
#include <unordered_map>
#include <vector>

#include "packet.h"

namespace headrace::link {

class FlowShaper {
 public:
  FlowShaper(double rate_bits, uint32_t flow_limit_packets);

  // False when the flow's queue is full; the packet is dropped then.
  bool arrive(uint64_t flow, Packet packet, int64_t now_ns);
  // When the next packet may go; load::kNever when none waits.
  int64_t next_ns() const;
  // The packet of next_ns(), which has been reached.
  Packet take();

  size_t flows() const { return flows_.size(); }

 private:
  struct Flow {
    int64_t free_ns = 0;  // when the wire has its last packet
    uint32_t queued = 0;
  };
  struct Waiting {
    int64_t when_ns;
    uint64_t order;  // of arrival: equal times keep it
    uint64_t flow;
    Packet packet;
  };
  // Heap algorithms with the earliest in front.
  struct Later {
    bool operator()(const Waiting& a, const Waiting& b) const {
      return a.when_ns != b.when_ns ? a.when_ns > b.when_ns : a.order > b.order;
    }
  };

  void forget_idle_flows(int64_t now_ns);

  double rate_bits_;
  uint32_t flow_limit_packets_;
  uint64_t arrivals_ = 0;
  int64_t next_clean_ns_ = 0;
  std::unordered_map<uint64_t, Flow> flows_;
  std::vector<Waiting> waiting_;
};

}  // namespace headrace::link
