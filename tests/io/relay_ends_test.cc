// How tunnels end: what one side did is what the other side sees.
#include "relay_fixture.h"

namespace headrace::io {
namespace {

using End = PlainSocket::End;
class RelayEndsTest : public RelayPathTest {};
INSTANTIATE_TEST_SUITE_P(Paths, RelayEndsTest, kBothPaths, name_of_path);

TEST_P(RelayEndsTest, passes_the_clients_half_close_and_still_delivers_the_answer) {
  open_tunnel();
  client.send("bye");
  client.shut_writes();
  ASSERT_TRUE(ends(upstream));
  EXPECT_EQ(upstream.end(), End::clean);
  EXPECT_EQ(upstream.received(), "bye");
  const std::string answer = pattern(0, 300'000);
  ASSERT_TRUE(passes(upstream, client, answer));
  EXPECT_EQ(client.end(), End::open);
  upstream.shut_writes();
  ASSERT_TRUE(ends(client));
  EXPECT_EQ(client.end(), End::clean);
}

TEST_P(RelayEndsTest, passes_the_upstreams_half_close_and_still_takes_more) {
  open_tunnel();
  upstream.send("that was all");
  upstream.shut_writes();
  ASSERT_TRUE(ends(client));
  EXPECT_EQ(client.end(), End::clean);
  EXPECT_EQ(client.received(), "that was all");
  const std::string more = pattern(0, 300'000);
  ASSERT_TRUE(passes(client, upstream, more));
  EXPECT_EQ(upstream.end(), End::open);
  client.shut_writes();
  ASSERT_TRUE(ends(upstream));
  EXPECT_EQ(upstream.end(), End::clean);
}

TEST_P(RelayEndsTest, passes_ends_that_come_with_the_last_bytes) {
  open_tunnel();
  for (PlainSocket* side : {&client, &upstream}) {
    side->send("last");
    side->shut_writes();
  }
  for (PlainSocket* side : {&client, &upstream}) {
    ASSERT_TRUE(ends(*side));
    EXPECT_EQ(side->end(), End::clean);
    EXPECT_EQ(side->received(), "last");
  }
  ASSERT_TRUE(run_until([&] { return worker().session_count() == 0; }));
}

TEST_P(RelayEndsTest, an_end_without_a_byte_is_passed_on) {
  open_tunnel();
  client.shut_writes();
  ASSERT_TRUE(ends(upstream));
  EXPECT_EQ(upstream.end(), End::clean);
  EXPECT_EQ(client.end(), End::open);
}

TEST_P(RelayEndsTest, passes_the_clients_reset_on_as_a_reset) {
  open_tunnel();
  ASSERT_TRUE(passes(client, upstream, "hello"));
  client.reset();
  ASSERT_TRUE(ends(upstream));
  EXPECT_EQ(upstream.end(), End::reset);
}

TEST_P(RelayEndsTest, passes_the_upstreams_reset_on_as_a_reset) {
  open_tunnel();
  ASSERT_TRUE(passes(upstream, client, "hello"));
  upstream.reset();
  ASSERT_TRUE(ends(client));
  EXPECT_EQ(client.end(), End::reset);
}

// Both events are there when the program looks for the first time.
TEST_P(RelayEndsTest, the_clients_last_bytes_before_a_reset_still_arrive) {
  open_tunnel();
  const std::string last = pattern(0, 30'000);
  client.send(last);
  client.reset();
  ASSERT_TRUE(ends(upstream));
  EXPECT_EQ(upstream.received(), last);
  EXPECT_EQ(upstream.end(), End::reset);
}

TEST_P(RelayEndsTest, the_upstreams_last_bytes_before_a_reset_still_arrive) {
  open_tunnel();
  const std::string last = pattern(0, 30'000);
  upstream.send(last);
  upstream.reset();
  ASSERT_TRUE(ends(client));
  EXPECT_EQ(client.received(), last);
  EXPECT_EQ(client.end(), End::reset);
}

// The client's bytes cannot be delivered, and finding that out must not lose the refusal.
TEST_P(RelayEndsTest, what_an_upstream_said_before_it_reset_a_talking_client_arrives) {
  open_tunnel();
  upstream.send("go away");
  client.send(pattern(0, 30'000));
  upstream.reset();
  ASSERT_TRUE(ends(client));
  EXPECT_EQ(client.received(), "go away");
  EXPECT_EQ(client.end(), End::reset);
}

TEST_P(RelayEndsTest, a_reset_behind_a_half_close_is_passed_on) {
  open_tunnel();
  client.send("request");
  client.shut_writes();
  ASSERT_TRUE(ends(upstream));
  upstream.send("half of the ans");
  ASSERT_TRUE(run_until([&] { return client.received().size() == 15; }));
  upstream.reset();
  ASSERT_TRUE(ends(client));
  EXPECT_EQ(client.end(), End::reset);
}

TEST_P(RelayEndsTest, a_client_that_resets_behind_its_half_close_cuts_the_answer) {
  open_tunnel();
  client.shut_writes();
  ASSERT_TRUE(ends(upstream));
  upstream.send("half of the ans");
  ASSERT_TRUE(run_until([&] { return client.received().size() == 15; }));
  client.reset();
  // Nobody sends anything any more, so no operation would ever fail.
  ASSERT_TRUE(run_until([&] { return worker().session_count() == 0; }));
  EXPECT_TRUE(ends(upstream));
}

TEST_P(RelayEndsTest, an_upstream_that_resets_behind_its_half_close_cuts_the_client) {
  open_tunnel();
  upstream.shut_writes();
  ASSERT_TRUE(ends(client));
  ASSERT_TRUE(passes(client, upstream, "half of the quest"));
  upstream.reset();
  ASSERT_TRUE(run_until([&] { return worker().session_count() == 0; }));
}

// Field case B018: data and FIN are both queued before the program looks.
TEST_P(RelayEndsTest, b018_last_data_and_end_together_at_every_size_around_a_page_and_a_pipe) {
  session::ListenerOptions options = relay_to(listener.endpoint());
  options.splice = GetParam();
  Front& front = listen(options);
  for (const size_t size : {1, 4'095, 4'096, 4'097, 65'535, 65'536, 65'537, 70'001}) {
    PlainSocket one = PlainSocket::connect_to(front.endpoint);
    PlainSocket other = accept_from(listener);
    const std::string bytes = pattern(size, size);
    other.send(bytes);
    other.shut_writes();
    ASSERT_TRUE(ends(one)) << size;
    EXPECT_EQ(one.end(), End::clean) << size;
    EXPECT_TRUE(one.received() == bytes) << size;
  }
}

TEST_P(RelayEndsTest, an_upstream_that_cannot_be_reached_is_a_reset) {
  RefusedPort nobody;
  session::ListenerOptions options = relay_to(nobody.endpoint());
  options.splice = GetParam();
  client = PlainSocket::connect_to(listen(options).endpoint);
  ASSERT_TRUE(ends(client));
  EXPECT_EQ(client.end(), End::reset);
  EXPECT_EQ(log.count("reason=connect_refused"), 1u);
}

// A half-closed connection that is cut must not look finished to the side that still listens.
TEST_P(RelayEndsTest, a_worker_that_is_cut_resets_both_sides) {
  open_tunnel();
  ASSERT_TRUE(passes(client, upstream, "hello"));
  worker().cut_all();
  ASSERT_TRUE(ends(client));
  ASSERT_TRUE(ends(upstream));
  EXPECT_EQ(client.end(), End::reset);
  EXPECT_EQ(upstream.end(), End::reset);
}

}  // namespace
}  // namespace headrace::io
