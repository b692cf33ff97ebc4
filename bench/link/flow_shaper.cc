#include "flow_shaper.h"

#include <algorithm>

#include "clock.h"

namespace headrace::link {
namespace {

// How often flows that have nothing to wait for are forgotten.
constexpr int64_t kCleanEveryNs = load::kNanosPerSecond;

}  // namespace

FlowShaper::FlowShaper(double rate_bits, uint32_t flow_limit_packets)
    : rate_bits_(rate_bits), flow_limit_packets_(flow_limit_packets) {}

bool FlowShaper::arrive(uint64_t flow_key, Packet packet, int64_t now) {
  if (now >= next_clean_ns_) forget_idle_flows(now);
  Flow& flow = flows_[flow_key];
  if (flow.queued == flow_limit_packets_) return false;
  const int64_t when_ns = std::max(now, flow.free_ns);
  flow.free_ns = when_ns + wire_time_ns(packet.size(), rate_bits_);
  ++flow.queued;
  waiting_.push_back({when_ns, arrivals_++, flow_key, std::move(packet)});
  std::push_heap(waiting_.begin(), waiting_.end(), Later());
  return true;
}

int64_t FlowShaper::next_ns() const {
  return waiting_.empty() ? load::kNever : waiting_.front().when_ns;
}

Packet FlowShaper::take() {
  std::pop_heap(waiting_.begin(), waiting_.end(), Later());
  Waiting first = std::move(waiting_.back());
  waiting_.pop_back();
  --flows_[first.flow].queued;
  return std::move(first.packet);
}

void FlowShaper::forget_idle_flows(int64_t now) {
  next_clean_ns_ = now + kCleanEveryNs;
  std::erase_if(flows_, [now](const auto& entry) {
    return entry.second.queued == 0 && entry.second.free_ns <= now;
  });
}

}  // namespace headrace::link
