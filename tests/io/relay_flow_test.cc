// How bytes move while a tunnel stands: back-pressure, pipes, the choice between copying and
// splicing, and everybody's turn.
#include "descriptor_limit.h"
#include "relay_fixture.h"

namespace headrace::io {
namespace {

using End = PlainSocket::End;
class RelayFlowTest : public RelayTest {};
class RelayPressureTest : public RelayPathTest {};
INSTANTIATE_TEST_SUITE_P(Paths, RelayPressureTest, kBothPaths, name_of_path);

constexpr BufferSizes kSmallSends{0, 16 * 1024};
constexpr BufferSizes kSlowReader{4 * 1024, 0};

// Field case B016: bytes of a short write may not stay behind while the program waits for more.
TEST_P(RelayPressureTest, b016_a_reader_with_a_tiny_buffer_gets_everything) {
  open_tunnel(kSmallSends, kSlowReader);
  const std::string bytes = pattern(0, 200'000);
  upstream.send(bytes);
  ASSERT_TRUE(run_until([&] {
    return upstream.flush() && client.received().size() == bytes.size();
  })) << client.received().size()
      << " of " << bytes.size();
  EXPECT_TRUE(client.received() == bytes);
  EXPECT_TRUE(passes(client, upstream, "x"));
}

TEST_P(RelayPressureTest, a_client_that_does_not_read_stops_its_upstream) {
  constexpr size_t kBytes = 16 * 1024 * 1024;
  open_tunnel(kSmallSends, kSlowReader);
  const std::string bytes = pattern(0, kBytes);
  size_t sent = 0;
  // Full: nothing could be sent in many turns.
  for (int quiet_turns = 0; quiet_turns < 30; turn()) {
    const size_t more = upstream.send_some(std::string_view(bytes).substr(sent));
    quiet_turns = more == 0 ? quiet_turns + 1 : 0;
    sent += more;
  }
  // A pipe and the kernel's own buffers: about 3 MB here. What the program itself keeps is one
  // read.
  EXPECT_LT(sent, kBytes / 2) << "nothing holds the upstream back";
  EXPECT_EQ(worker().mover.pipes.leased(), GetParam() == relay::SpliceMode::always ? 1u : 0u);

  const uint64_t moved = copied() + spliced();
  run_for(std::chrono::milliseconds(20));
  EXPECT_EQ(copied() + spliced(), moved) << "read on although the client takes nothing";
}

TEST_P(RelayPressureTest, one_stalled_way_does_not_stop_the_other) {
  open_tunnel(kSmallSends, kSlowReader);
  upstream.send(pattern(0, 8 * 1024 * 1024));
  run_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(upstream.flush()) << "the way down is not stalled";
  size_t received = 0;
  for (int i = 0; i < 20; ++i) {
    client.send("still here");
    ASSERT_TRUE(run_until([&] {
      upstream.receive();
      received = upstream.received().size();
      return received >= 10u * (i + 1);
    }));
  }
}

TEST_P(RelayPressureTest, bytes_that_wait_arrive_before_the_end_that_followed_them) {
  open_tunnel(kSmallSends, kSlowReader);
  const std::string bytes = pattern(7, 200'000);
  upstream.send(bytes);
  upstream.shut_writes();
  ASSERT_TRUE(run_until([&] { return upstream.flush() && client.end() != End::open; }));
  EXPECT_EQ(client.end(), End::clean);
  EXPECT_TRUE(client.received() == bytes);
}

TEST_F(RelayFlowTest, a_pipe_is_held_only_while_bytes_are_inside_it) {
  open_tunnel(relay::SpliceMode::always, kSmallSends, kSlowReader);
  EXPECT_EQ(worker().mover.pipes.leased(), 0u) << "an idle tunnel holds a pipe";
  const std::string bytes = pattern(0, 300'000);
  upstream.send(bytes);
  ASSERT_TRUE(run_until([&] { return worker().mover.pipes.leased() == 1; }));
  ASSERT_TRUE(
      run_until([&] { return upstream.flush() && client.received().size() == bytes.size(); }));
  ASSERT_TRUE(run_until([&] { return worker().mover.pipes.leased() == 0; }));
  EXPECT_GT(spliced(), 0u);
  EXPECT_EQ(worker().mover.pipes.idle(), 1u) << "the pipe is kept for the next";
}

TEST_F(RelayFlowTest, idle_tunnels_hold_no_pipe_however_many_they_are) {
  constexpr size_t kTunnels = 50;
  session::ListenerOptions options = relay_to(listener.endpoint());
  options.splice = relay::SpliceMode::always;
  Front& front = listen(options);
  std::vector<PlainSocket> clients;
  std::vector<PlainSocket> upstreams;
  for (size_t i = 0; i < kTunnels; ++i) {
    clients.push_back(PlainSocket::connect_to(front.endpoint));
    upstreams.push_back(accept_from(listener));
    ASSERT_TRUE(passes(clients.back(), upstreams.back(), pattern(i, 20'000)));
  }
  EXPECT_EQ(worker().mover.pipes.leased(), 0u);
  EXPECT_LE(worker().mover.pipes.stats().created, 1u) << "one pipe serves them one after the other";
}

TEST_F(RelayFlowTest, a_session_that_ends_with_bytes_in_its_pipe_gives_the_pipe_back) {
  open_tunnel(relay::SpliceMode::always, kSmallSends, kSlowReader);
  upstream.send(pattern(0, 8 * 1024 * 1024));
  ASSERT_TRUE(run_until([&] { return worker().mover.pipes.leased() == 1; }));
  client.reset();
  ASSERT_TRUE(run_until([&] { return worker().session_count() == 0; }));
  EXPECT_EQ(worker().mover.pipes.leased(), 0u);
  // The next one may not find those bytes in it.
  open_another_tunnel();
  EXPECT_TRUE(passes(upstream, client, "of the next"));
}

TEST_F(RelayFlowTest, small_messages_are_never_spliced) {
  open_tunnel(relay::SpliceMode::automatic);
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(passes(upstream, client, pattern(i, 4'000)));
  EXPECT_EQ(spliced(), 0u);
  EXPECT_EQ(copied(), 50u * 4'000);
}

// copy -> bulk after two reads of 16 KB or more in a row, bulk -> copy after three under that.
TEST_F(RelayFlowTest, a_way_changes_between_copying_and_splicing_by_what_its_reads_show) {
  constexpr size_t kLarge = 32'000;
  constexpr size_t kSmall = 1'000;
  open_tunnel(relay::SpliceMode::automatic);
  ASSERT_TRUE(passes(upstream, client, pattern(1, kLarge)));
  ASSERT_TRUE(passes(upstream, client, pattern(2, kSmall)));  // begins to count anew
  ASSERT_TRUE(passes(upstream, client, pattern(3, kLarge)));
  ASSERT_TRUE(passes(upstream, client, pattern(4, kLarge)));
  EXPECT_EQ(spliced(), 0u);
  EXPECT_EQ(copied(), 3 * kLarge + kSmall);

  ASSERT_TRUE(passes(upstream, client, pattern(5, kLarge)));
  EXPECT_EQ(spliced(), kLarge);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(passes(upstream, client, pattern(i, kSmall)));
  EXPECT_EQ(spliced(), kLarge + 3 * kSmall);
  EXPECT_EQ(copied(), 3 * kLarge + kSmall);

  ASSERT_TRUE(passes(upstream, client, pattern(6, kSmall)));
  EXPECT_EQ(spliced(), kLarge + 3 * kSmall) << "did not go back to copying";
  EXPECT_EQ(copied(), 3 * kLarge + 2 * kSmall);
}

TEST_F(RelayFlowTest, each_way_chooses_for_itself) {
  open_tunnel(relay::SpliceMode::automatic);
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(passes(upstream, client, pattern(i, 32'000)));
    ASSERT_TRUE(passes(client, upstream, pattern(i, 100)));
  }
  EXPECT_EQ(copied(), 2u * 32'000 + 5 * 100);
  EXPECT_EQ(spliced(), 3u * 32'000);
}

TEST_F(RelayFlowTest, splice_never_and_always_are_kept_to) {
  open_tunnel(relay::SpliceMode::never);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(passes(upstream, client, pattern(i, 32'000)));
  EXPECT_EQ(spliced(), 0u);
  const uint64_t copied_before = copied();
  open_tunnel(relay::SpliceMode::always);
  ASSERT_TRUE(passes(upstream, client, "x"));
  EXPECT_EQ(spliced(), 1u);
  EXPECT_EQ(copied(), copied_before);
}

TEST_F(RelayFlowTest, splicing_always_begins_again_when_there_are_descriptors_for_a_pipe_again) {
  open_tunnel(relay::SpliceMode::always);
  const std::string bytes = pattern(0, 100'000);
  DescriptorLimit limit(0);
  ASSERT_TRUE(passes(upstream, client, bytes));
  EXPECT_EQ(spliced(), 0u);
  limit.lift();
  ASSERT_TRUE(passes(upstream, client, bytes));
  EXPECT_EQ(spliced(), bytes.size());
}

// A stream that always has more to move must not make a small exchange wait for more than its turn.
TEST_F(RelayFlowTest, a_bulk_stream_does_not_starve_a_small_exchange) {
  for (const relay::SpliceMode mode : {relay::SpliceMode::never, relay::SpliceMode::always}) {
    open_tunnel(mode);
    PlainSocket bulk_client = std::move(client);
    PlainSocket bulk_upstream = std::move(upstream);
    open_another_tunnel();

    const std::string flood = pattern(0, 4 * 1024 * 1024);
    size_t bulk_bytes = 0;
    const auto keep_busy = [&] {
      bulk_upstream.send_some(flood);
      bulk_bytes += bulk_client.receive();
      bulk_client.take_received();
    };
    for (int i = 0; i < 20; ++i) keep_busy(), turn();

    constexpr int kExchanges = 15;
    bulk_bytes = 0;
    const uint64_t turns_before = loop->turns();
    for (int i = 0; i < kExchanges; ++i) {
      client.send("ping");
      while (upstream.take_received().empty()) keep_busy(), turn();
      upstream.send("pong");
      while (client.take_received().empty()) keep_busy(), turn();
    }
    // Both ways of an exchange take a turn each, and one more is allowed for bad luck.
    EXPECT_LE(loop->turns() - turns_before, 3u * kExchanges);
    EXPECT_GT(bulk_bytes, kExchanges * 64u * 1024) << "there was no bulk stream to suffer from";
  }
}

}  // namespace
}  // namespace headrace::io
