#include "flow.h"

#include <gtest/gtest.h>

#include "packets.h"

namespace headrace::link {
namespace {

TEST(Flow, packets_of_a_connection_are_one_flow_whatever_they_carry) {
  std::vector<uint8_t> packet = udp_packet(100, 5000);
  const uint64_t flow = flow_of(packet);
  packet.resize(1500, 0xaa);
  packet[4] = 7;   // identification
  packet[8] = 12;  // time to live
  EXPECT_EQ(flow_of(packet), flow);
}

TEST(Flow, each_part_of_the_five_tuple_makes_another_flow) {
  const std::vector<uint8_t> packet = udp_packet(100, 5000);
  for (const size_t at : {9u, 12u, 15u, 16u, 19u, 20u, 21u, 22u, 23u}) {
    std::vector<uint8_t> other = packet;
    other[at] ^= at == 9 ? 17 ^ 6 : 1;  // UDP becomes TCP
    EXPECT_NE(flow_of(other), flow_of(packet)) << "byte " << at;
  }
}

TEST(Flow, later_fragments_go_by_addresses_alone) {
  std::vector<uint8_t> one = udp_packet(100, 1), other = udp_packet(100, 2);
  one[7] = other[7] = 1;
  EXPECT_EQ(flow_of(one), flow_of(other));
  EXPECT_NE(flow_of(one), flow_of(udp_packet(100, 1)));
}

TEST(Flow, options_of_ipv4_are_skipped) {
  std::vector<uint8_t> one = udp_packet(100, 1);
  one[0] = 0x46;  // 24 bytes: the ports are four bytes further
  std::vector<uint8_t> other = one;
  other[20] ^= 1;  // in the options
  EXPECT_EQ(flow_of(one), flow_of(other));
  other[25] ^= 1;  // in the ports
  EXPECT_NE(flow_of(one), flow_of(other));
}

TEST(Flow, ipv6_has_flows_too) {
  std::vector<uint8_t> one(100, 0);
  one[0] = 0x60;
  one[6] = kUdpProtocol;
  std::vector<uint8_t> other = one;
  EXPECT_EQ(flow_of(one), flow_of(other));
  other[43] ^= 1;  // port
  EXPECT_NE(flow_of(one), flow_of(other));
  other = one;
  other[39] ^= 1;  // last byte of the destination
  EXPECT_NE(flow_of(one), flow_of(other));
}

TEST(Flow, cut_and_foreign_packets_are_read_within_their_bounds) {
  const std::vector<uint8_t> packet = udp_packet(100, 5000);
  for (size_t length = 0; length <= 28; ++length) {
    // Copied to its own size, so that a sanitizer sees a byte read too many.
    const std::vector<uint8_t> cut(packet.begin(), packet.begin() + static_cast<ptrdiff_t>(length));
    flow_of(cut);
  }
  EXPECT_EQ(flow_of(std::vector<uint8_t>{0x10, 1, 2}), 0u);
}

}  // namespace
}  // namespace headrace::link
