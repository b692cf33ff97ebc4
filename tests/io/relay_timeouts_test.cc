// How long a tunnel may be silent. The clock is moved by hand.
#include "relay_fixture.h"

namespace headrace::io {
namespace {

using End = PlainSocket::End;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

class RelayTimeoutsTest : public RelayTest {
 protected:
  RelayTimeoutsTest() : RelayTest(Time::manual) {}

  void open_tunnel() {
    session::ListenerOptions options = relay_to(listener.endpoint());
    options.idle_timeout = minutes(10);
    options.half_closed_timeout = minutes(1);
    RelayTest::open_tunnel(options);
  }
  bool lives() {
    run_for(milliseconds(5));
    return worker().session_count() == 1 && client.end() != End::reset;
  }
  // Both see a cut, and not one byte of ours (field case B007).
  void expect_cut(const std::string& client_received) {
    ASSERT_TRUE(ends(client));
    EXPECT_EQ(client.end(), End::reset);
    EXPECT_EQ(client.received(), client_received);
    ASSERT_TRUE(run_until([&] { return worker().session_count() == 0; }));
    EXPECT_EQ(log.access_lines.size(), 1u);
    EXPECT_NE(log.access_lines.back().find("result=timed_out"), std::string::npos)
        << log.access_lines.back();
  }
};

TEST_F(RelayTimeoutsTest, b007_a_silent_tunnel_is_cut_at_idle_timeout_without_a_byte_of_ours) {
  open_tunnel();
  ASSERT_TRUE(passes(client, upstream, "ten bytes."));
  ASSERT_TRUE(passes(upstream, client, "ten bytes."));
  advance(minutes(10) - seconds(1));
  ASSERT_TRUE(lives());
  advance(seconds(2));
  expect_cut("");
  ASSERT_TRUE(ends(upstream));
  EXPECT_EQ(upstream.end(), End::reset);
}

TEST_F(RelayTimeoutsTest, a_tunnel_without_a_first_byte_is_cut_as_well) {
  open_tunnel();
  ASSERT_TRUE(lives());
  advance(minutes(10) + seconds(1));
  expect_cut("");
}

// Either way counts for both: a download says nothing in the other direction for hours.
TEST_F(RelayTimeoutsTest, traffic_of_either_way_keeps_a_tunnel) {
  open_tunnel();
  for (int i = 0; i < 5; ++i) {
    advance(minutes(9));
    ASSERT_TRUE(passes(upstream, client, "down"));
    advance(minutes(9));
    ASSERT_TRUE(passes(client, upstream, "up"));
  }
  ASSERT_TRUE(lives());
  advance(minutes(10) + seconds(1));
  expect_cut("");
}

TEST_F(RelayTimeoutsTest, half_closed_timeout_counts_from_the_half_close) {
  open_tunnel();
  advance(minutes(9));
  client.shut_writes();
  ASSERT_TRUE(ends(upstream));
  advance(seconds(59));
  ASSERT_TRUE(lives());
  advance(seconds(2));
  expect_cut("");
}

TEST_F(RelayTimeoutsTest, an_upstream_that_half_closed_is_limited_the_same_way) {
  open_tunnel();
  upstream.send("answer");
  upstream.shut_writes();
  ASSERT_TRUE(ends(client));
  ASSERT_TRUE(lives());
  advance(seconds(61));
  ASSERT_TRUE(ends(upstream));
  EXPECT_EQ(upstream.end(), End::reset);
  ASSERT_TRUE(run_until([&] { return worker().session_count() == 0; }));
}

// It is a limit of silence, not of time: a long answer after the half-close is no fault.
TEST_F(RelayTimeoutsTest, traffic_keeps_a_half_closed_tunnel) {
  open_tunnel();
  client.shut_writes();
  ASSERT_TRUE(ends(upstream));
  for (int i = 0; i < 10; ++i) {
    advance(seconds(50));
    ASSERT_TRUE(passes(upstream, client, "a bit more")) << i;
  }
  advance(seconds(61));
  expect_cut("");
}

// A client that has stopped reading is silent too, whatever its upstream would like to send.
TEST_F(RelayTimeoutsTest, a_stalled_tunnel_is_cut_at_idle_timeout) {
  session::ListenerOptions options = relay_to(listener.endpoint());
  options.idle_timeout = minutes(10);
  RelayTest::open_tunnel(options, {0, 16 * 1024}, {4 * 1024, 0});
  upstream.send(pattern(0, 8 * 1024 * 1024));
  run_for(milliseconds(20));
  advance(minutes(10) + seconds(1));
  ASSERT_TRUE(run_until([&] { return worker().session_count() == 0; }));
  ASSERT_TRUE(ends(upstream));
  EXPECT_EQ(upstream.end(), End::reset);
}

// Field case B009: the limit for connecting is over with the connecting.
TEST_F(RelayTimeoutsTest, b009_limits_of_the_set_up_do_not_touch_a_standing_tunnel) {
  session::ListenerOptions options = relay_to(listener.endpoint());
  options.setup_timeout = seconds(1);
  options.connect_timeout = seconds(1);
  options.idle_timeout = minutes(10);
  RelayTest::open_tunnel(options);
  for (int i = 0; i < 5; ++i) {
    advance(seconds(2));
    ASSERT_TRUE(passes(upstream, client, "trickle"));
  }
}

}  // namespace
}  // namespace headrace::io
