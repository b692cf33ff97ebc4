#include "direction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "clock.h"
#include "packets.h"

namespace headrace::link {
namespace {

using load::kNever;

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kSecond = 1000 * kMs;

struct Left {
  int64_t when_ns;
  uint16_t from_port;
};

// Everything that leaves, each at the time when the link says that it is due.
std::vector<Left> drain(Direction& direction, int64_t until_ns = kNever) {
  std::vector<Left> left;
  while (direction.next_ns() != kNever && direction.next_ns() <= until_ns) {
    const int64_t now = direction.next_ns();
    while (const std::optional<Departure> departure = direction.depart(now)) {
      const std::span<const uint8_t> bytes = departure->packet.bytes();
      left.push_back({departure->due_ns, static_cast<uint16_t>(bytes[20] << 8 | bytes[21])});
    }
  }
  return left;
}

LinkWords words(std::string_view text) {
  std::string why;
  const std::optional<LinkWords> parsed = parse_link_words(text, why);
  EXPECT_TRUE(parsed) << why;
  return parsed.value_or(LinkWords{});
}

TEST(Direction, without_words_a_packet_leaves_when_it_came) {
  Direction direction({}, {}, 1);
  direction.arrive(udp_packet(1500, 1), 5);
  EXPECT_EQ(direction.next_ns(), 5);
  const std::vector<Left> left = drain(direction);
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0].when_ns, 5);
  EXPECT_EQ(direction.next_ns(), kNever);
}

TEST(Direction, delay_moves_every_packet_by_the_same_time_and_keeps_the_gaps) {
  Direction direction(words("delay 5ms"), {}, 1);
  for (int i = 0; i < 100; ++i) direction.arrive(udp_packet(100, 1), i * 70'000);
  EXPECT_FALSE(direction.depart(5 * kMs - 1));
  const std::vector<Left> left = drain(direction);
  ASSERT_EQ(left.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(left[i].when_ns, 5 * kMs + i * 70'000);
}

TEST(Direction, rate_spaces_a_burst_by_its_time_on_the_wire) {
  Direction direction(words("rate 12mbit limit 2000"), {}, 1);
  for (int i = 0; i < 1000; ++i) direction.arrive(udp_packet(1500, 1), 0);
  const std::vector<Left> left = drain(direction);
  ASSERT_EQ(left.size(), 1000u);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(left[i].when_ns, (i + 1) * kMs);
}

TEST(Direction, rate_does_not_save_up_while_the_link_is_idle) {
  Direction direction(words("rate 12mbit"), {}, 1);
  direction.arrive(udp_packet(1500, 1), 0);
  EXPECT_EQ(drain(direction).back().when_ns, kMs);
  direction.arrive(udp_packet(1500, 1), kSecond);
  direction.arrive(udp_packet(1500, 1), kSecond);
  const std::vector<Left> left = drain(direction);
  EXPECT_EQ(left[0].when_ns, kSecond + kMs);
  EXPECT_EQ(left[1].when_ns, kSecond + 2 * kMs);
}

TEST(Direction, delay_and_rate_add_up_as_in_netem) {
  Direction direction(words("delay 10ms rate 12mbit"), {}, 1);
  direction.arrive(udp_packet(1500, 1), 0);
  direction.arrive(udp_packet(1500, 1), 0);
  direction.arrive(udp_packet(750, 1), 20 * kMs);
  const std::vector<Left> left = drain(direction);
  EXPECT_EQ(left[0].when_ns, 11 * kMs);
  EXPECT_EQ(left[1].when_ns, 12 * kMs);
  EXPECT_EQ(left[2].when_ns, 30 * kMs + kMs / 2);
}

TEST(Direction, a_full_queue_drops_what_comes_last) {
  Direction direction(words("delay 1ms limit 10"), {}, 1);
  for (uint16_t i = 0; i < 15; ++i) direction.arrive(udp_packet(100, i), 0);
  const std::vector<Left> left = drain(direction);
  ASSERT_EQ(left.size(), 10u);
  EXPECT_EQ(left.back().from_port, 9);
  EXPECT_EQ(direction.counts().dropped, 5u);
}

TEST(Direction, packets_that_are_due_take_no_place_in_the_queue) {
  Direction direction(words("delay 1ms limit 10"), {}, 1);
  for (int i = 0; i < 10; ++i) direction.arrive(udp_packet(100, 1), 0);
  for (int i = 0; i < 10; ++i) direction.arrive(udp_packet(100, 1), kMs);  // nobody fetched yet
  EXPECT_EQ(direction.counts().dropped, 0u);
  EXPECT_EQ(drain(direction).size(), 20u);
}

TEST(Direction, loss_takes_its_share_within_statistics_and_independently) {
  constexpr int kPackets = 200'000;
  constexpr double kShare = 0.005;
  Direction direction(words("loss 0.5%"), {}, 42);
  int lost = 0, lost_in_pairs = 0;
  bool before = false;
  for (int i = 0; i < kPackets; ++i) {
    const uint64_t seen = direction.counts().lost;
    direction.arrive(udp_packet(100, 1), i);
    const bool is_lost = direction.counts().lost > seen;
    lost += is_lost;
    lost_in_pairs += is_lost && before;
    before = is_lost;
    direction.depart(i);
  }
  EXPECT_NEAR(lost, kPackets * kShare, 5 * std::sqrt(kPackets * kShare));
  // Two in a row by chance alone: about five.
  EXPECT_LT(lost_in_pairs, 25);
  EXPECT_EQ(direction.counts().packets_out + lost, direction.counts().packets_in);
}

TEST(Direction, the_seed_decides_which_packets_are_lost) {
  const auto survivors = [](uint64_t seed) {
    Direction direction(words("loss 10%"), {}, seed);
    for (uint16_t i = 0; i < 500; ++i) direction.arrive(udp_packet(100, i), i);
    std::vector<uint16_t> ports;
    for (const Left& left : drain(direction)) ports.push_back(left.from_port);
    return ports;
  };
  EXPECT_EQ(survivors(1), survivors(1));
  EXPECT_NE(survivors(1), survivors(2));
}

TEST(Direction, each_flow_has_a_rate_of_its_own) {
  Direction direction({}, FlowLimits{12e6, 1000}, 1);
  for (int i = 0; i < 500; ++i) {
    for (uint16_t flow = 0; flow < 4; ++flow) direction.arrive(udp_packet(1500, flow), 0);
  }
  std::map<uint16_t, std::vector<int64_t>> times;
  for (const Left& left : drain(direction)) times[left.from_port].push_back(left.when_ns);
  ASSERT_EQ(times.size(), 4u);
  for (const auto& [flow, when_ns] : times) {
    ASSERT_EQ(when_ns.size(), 500u);
    for (size_t i = 0; i < when_ns.size(); ++i) {
      EXPECT_EQ(when_ns[i], static_cast<int64_t>(i) * kMs) << "flow " << flow;
    }
  }
}

TEST(Direction, a_full_flow_drops_its_own_packets_only) {
  Direction direction({}, FlowLimits{12e6, 100}, 1);
  for (int i = 0; i < 150; ++i) direction.arrive(udp_packet(1500, 1), 0);
  direction.arrive(udp_packet(1500, 2), 0);
  EXPECT_EQ(direction.counts().flow_dropped, 50u);
  const std::vector<Left> left = drain(direction);
  EXPECT_EQ(left.size(), 101u);
  EXPECT_EQ(std::count_if(left.begin(), left.end(), [](Left l) { return l.from_port == 2; }), 1);
}

TEST(Direction, flows_delay_and_common_rate_work_together) {
  // Two flows of 12 Mbit/s share a wire of 16: the wire decides, and everybody waits 5 ms more.
  Direction direction(words("delay 5ms rate 16mbit limit 10000"), FlowLimits{12e6, 10000}, 1);
  for (int i = 0; i < 1000; ++i) {
    direction.arrive(udp_packet(1500, 1), 0);
    direction.arrive(udp_packet(1500, 2), 0);
  }
  const std::vector<Left> left = drain(direction);
  ASSERT_EQ(left.size(), 2000u);
  EXPECT_EQ(left.front().when_ns, 5 * kMs + 750'000);
  EXPECT_NEAR(static_cast<double>(left.back().when_ns), 5e6 + 2000 * 0.75e6, 1e6);
}

TEST(Direction, looking_late_changes_no_departure) {
  const auto due_times = [](int64_t every_ns) {
    Direction direction(words("delay 3ms rate 50mbit limit 40"), FlowLimits{20e6, 100}, 7);
    load::Random random(3);
    std::vector<int64_t> due;
    int64_t now = 0, looked = 0;
    for (int i = 0; i < 3000; ++i) {
      now += static_cast<int64_t>(random.exponential(200'000));
      for (; looked + every_ns < now; looked += every_ns) {
        while (const auto departure = direction.depart(looked)) due.push_back(departure->due_ns);
      }
      direction.arrive(udp_packet(100 + random.below(1400), static_cast<uint16_t>(random.below(5))),
                       now);
    }
    for (const Left& left : drain(direction)) due.push_back(left.when_ns);
    return due;
  };
  EXPECT_EQ(due_times(10'000), due_times(1'000'000));
}

}  // namespace
}  // namespace headrace::link
