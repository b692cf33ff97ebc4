#include "direction.h"

#include <algorithm>

#include "clock.h"
#include "flow.h"

namespace headrace::link {

Direction::Direction(const LinkWords& words, const FlowLimits& flows, uint64_t seed)
    : words_(words), random_(seed) {
  if (flows.rate_bits > 0) shaper_.emplace(flows.rate_bits, flows.limit_packets);
}

void Direction::arrive(std::span<const uint8_t> bytes, int64_t now) {
  ++counts_.packets_in;
  counts_.bytes_in += bytes.size();
  if (!shaper_) return enqueue(Packet(bytes), now);
  if (!shaper_->arrive(flow_of(bytes), Packet(bytes), now)) ++counts_.flow_dropped;
}

// netem's rule: a packet leaves at the later of (arrival + delay) and (departure of the one
// before), plus its time on the wire.
void Direction::enqueue(Packet packet, int64_t now) {
  if (words_.loss_share > 0 && random_.chance(words_.loss_share)) {
    ++counts_.lost;
    return;
  }
  if (is_full(now)) {
    ++counts_.dropped;
    return;
  }
  int64_t due_ns = now + words_.delay_ns;
  if (!queue_.empty()) due_ns = std::max(due_ns, queue_.back().due_ns);
  due_ns += wire_time_ns(packet.size(), words_.rate_bits);
  queue_.push_back({due_ns, std::move(packet)});
}

// What is due by now has left, though nobody has come to fetch it yet.
bool Direction::is_full(int64_t now) const {
  if (queue_.size() < words_.limit_packets) return false;
  const auto first_waiting =
      std::upper_bound(queue_.begin(), queue_.end(), now,
                       [](int64_t when, const Departure& other) { return when < other.due_ns; });
  return queue_.end() - first_waiting >= static_cast<ptrdiff_t>(words_.limit_packets);
}

int64_t Direction::next_ns() const {
  const int64_t queue_ns = queue_.empty() ? load::kNever : queue_.front().due_ns;
  return shaper_ ? std::min(queue_ns, shaper_->next_ns()) : queue_ns;
}

std::optional<Departure> Direction::depart(int64_t now) {
  // What the shaper releases counts from when it was due, not from when we came to look; and what
  // has left the queue by then has left it.
  while (shaper_ && shaper_->next_ns() <= now) {
    const int64_t released_ns = shaper_->next_ns();
    if (!queue_.empty() && queue_.front().due_ns <= released_ns) break;
    enqueue(shaper_->take(), released_ns);
  }
  if (queue_.empty() || queue_.front().due_ns > now) return std::nullopt;
  std::optional<Departure> first = std::move(queue_.front());
  queue_.pop_front();
  ++counts_.packets_out;
  counts_.bytes_out += first->packet.size();
  return first;
}

}  // namespace headrace::link
