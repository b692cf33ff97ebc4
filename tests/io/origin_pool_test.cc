// Connections to origins that are kept: which, how long, for whom, and what happens when one dies.
#include "session/origin_pool.h"

#include <sys/socket.h>

#include <array>

#include "http_fixture.h"

namespace headrace::io {
namespace {

using End = PlainSocket::End;
using std::chrono::milliseconds;
using std::chrono::seconds;

class OriginPoolTest : public HttpTest {
 protected:
  OriginPoolTest() : HttpTest(Time::manual), front(listen_http(with_keepalive(seconds(60)))) {}
  static session::ListenerOptions with_keepalive(net::Duration limit) {
    session::ListenerOptions options = options_for(session::Protocol::http);
    options.keepalive_timeout = limit;
    return options;
  }
  PlainSocket connect() { return PlainSocket::connect_to(front.endpoint); }

  Front& front;
};

TEST_F(OriginPoolTest, a_kept_connection_serves_the_next_client) {
  PlainSocket first = connect();
  PlainSocket upstream = first_exchange(first);
  EXPECT_EQ(pool().idle(), 1u);
  PlainSocket second = connect();
  ASSERT_TRUE(exchange(second, upstream));
  EXPECT_EQ(pool().stats().opened.value(), 1u);
  EXPECT_EQ(pool().stats().reused.value(), 1u);
  first.close();
  second.close();
  ASSERT_TRUE(run_until([&] { return worker().session_count() == 0; }));
  EXPECT_EQ(pool().idle(), 1u) << "it belongs to no client";
}

TEST_F(OriginPoolTest, a_connection_in_use_is_not_shared) {
  PlainSocket first = connect();
  PlainSocket second = connect();
  first.send(head("GET"));
  PlainSocket upstream = accept_from(origin);
  PlainSocket other = first_exchange(second);
  EXPECT_EQ(pool().idle(), 1u);
  upstream.send(answer("late"));
  ASSERT_TRUE(gets(first, "late"));
  EXPECT_EQ(pool().idle(), 2u);
}

// So that surplus ones grow old and go.
TEST_F(OriginPoolTest, the_connection_used_last_is_taken_first) {
  PlainSocket first = connect();
  PlainSocket second = connect();
  first.send(head("GET"));
  PlainSocket older = accept_from(origin);
  second.send(head("GET"));
  PlainSocket newer = accept_from(origin);
  for (auto [client, upstream] : {std::pair{&first, &older}, std::pair{&second, &newer}}) {
    ASSERT_TRUE(gets(*upstream, "\r\n\r\n"));
    upstream->send(answer("done"));
    ASSERT_TRUE(gets(*client, "done"));
  }
  EXPECT_EQ(pool().idle(), 2u);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(exchange(first, newer)) << i;
  EXPECT_EQ(older.received(), "");
}

// The body's last byte is read exactly, so nothing shows yet that the socket has no more.
TEST_F(OriginPoolTest, a_connection_is_kept_after_bodies_of_every_size_and_way) {
  PlainSocket client = connect();
  PlainSocket upstream = first_exchange(client);
  for (const size_t size : {0, 1, 5'000, 16'384, 70'000, 131'072, 300'000}) {
    const std::string body = pattern(size, size);
    client.send(head("GET"));
    ASSERT_TRUE(gets(upstream, "\r\n\r\n")) << size;
    const std::string whole = answer(body);
    upstream.send(whole.substr(0, whole.size() - size));
    ASSERT_TRUE(run_until([&] { return client.received().ends_with("\r\n\r\n"); }));
    client.take_received();
    upstream.send(body);
    ASSERT_TRUE(run_until([&] { return upstream.flush() && client.received().size() == size; }));
    EXPECT_TRUE(client.take_received() == body);
    ASSERT_TRUE(run_until([&] { return pool().idle() == 1; })) << size << " bytes";
  }
  EXPECT_EQ(pool().stats().opened.value(), 1u);
}

TEST_F(OriginPoolTest, an_idle_connection_that_its_origin_ends_leaves_the_pool) {
  PlainSocket client = connect();
  PlainSocket upstream = first_exchange(client);
  upstream.close();
  ASSERT_TRUE(run_until([&] { return pool().idle() == 0; }));
  EXPECT_EQ(pool().stats().died_idle.value(), 1u);
  first_exchange(client);
}

TEST_F(OriginPoolTest, an_idle_connection_that_its_origin_resets_leaves_the_pool) {
  PlainSocket client = connect();
  PlainSocket upstream = first_exchange(client);
  upstream.reset();
  ASSERT_TRUE(run_until([&] { return pool().idle() == 0; }));
}

// What it says would be taken for the answer to the next request.
TEST_F(OriginPoolTest, an_idle_connection_that_speaks_unasked_leaves_the_pool) {
  PlainSocket client = connect();
  PlainSocket upstream = first_exchange(client);
  upstream.send(answer("poison"));
  ASSERT_TRUE(run_until([&] { return pool().idle() == 0; }));
  ASSERT_TRUE(ends(upstream));
  first_exchange(client);
}

TEST_F(OriginPoolTest, a_connection_with_surplus_behind_its_answer_is_not_kept) {
  PlainSocket client = connect();
  client.send(head("GET"));
  PlainSocket upstream = accept_from(origin);
  ASSERT_TRUE(gets(upstream, "\r\n\r\n"));
  upstream.send(answer("done") + answer("poison"));
  ASSERT_TRUE(gets(client, "done"));
  ASSERT_TRUE(ends(upstream));
  EXPECT_EQ(pool().idle(), 0u);
  first_exchange(client);
}

// The request and the end are told in one turn: the client is served first, and takes a connection
// of which the loop still has something to say.
TEST_F(OriginPoolTest, a_connection_that_dies_in_the_turn_in_which_it_is_taken_costs_one_retry) {
  for (const bool by_reset : {false, true}) {
    PlainSocket client = connect();
    PlainSocket upstream = first_exchange(client);
    ASSERT_EQ(pool().idle(), 1u);
    client.send(head("GET"));
    if (by_reset)
      upstream.reset();
    else
      upstream.close();
    PlainSocket again = accept_from(origin);
    ASSERT_TRUE(gets(again, "\r\n\r\n"));
    again.send(answer("from the second"));
    ASSERT_TRUE(gets(client, "from the second"));
    again.close();
    ASSERT_TRUE(run_until([&] { return pool().idle() == 0; }));
  }
}

// An origin that says "408 Request Timeout" on an idle connection just when it is wanted again; or
// one that says so much that it cannot be read in one turn.
TEST_F(OriginPoolTest, a_connection_that_speaks_in_the_turn_in_which_it_would_be_taken_is_not) {
  for (const size_t poison_bytes : {10, 8'000'000}) {
    PlainSocket client = connect();
    PlainSocket upstream = first_exchange(client);
    ASSERT_EQ(pool().idle(), 1u);
    client.send(head("GET"));
    const std::string poison = answer(std::string(poison_bytes, '!'));
    upstream.send_some(poison);
    PlainSocket again = accept_from(origin);
    ASSERT_TRUE(gets(again, "\r\n\r\n"));
    again.send(answer("the right one"));
    ASSERT_TRUE(gets(client, "\r\n\r\nthe right one"));
    again.close();
    ASSERT_TRUE(run_until([&] { return pool().idle() == 0; }));
  }
}

// The other order: the end is told before the request comes.
TEST_F(OriginPoolTest, a_connection_that_died_just_before_is_not_taken) {
  PlainSocket client = connect();
  PlainSocket upstream = first_exchange(client);
  upstream.close();
  client.send(head("POST", "Content-Length: 4\r\n") + "body");
  PlainSocket again = accept_from(origin);
  ASSERT_TRUE(gets(again, "\r\n\r\nbody"));
}

TEST_F(OriginPoolTest, a_dead_connection_that_looked_alive_is_retried_for_a_get) {
  PlainSocket client = connect();
  PlainSocket upstream = first_exchange(client);
  client.send(head("GET"));
  ASSERT_TRUE(gets(upstream, "\r\n\r\n"));
  upstream.close();
  PlainSocket again = accept_from(origin);
  ASSERT_TRUE(gets(again, "\r\n\r\n"));
  again.send(answer("at the second try"));
  ASSERT_TRUE(gets(client, "at the second try"));
  EXPECT_EQ(worker().stats.retried.value(), 1u);
}

TEST_F(OriginPoolTest, a_post_is_never_sent_twice) {
  PlainSocket client = connect();
  PlainSocket upstream = first_exchange(client);
  client.send(head("POST", "Content-Length: 4\r\n") + "body");
  ASSERT_TRUE(gets(upstream, "\r\n\r\nbody"));
  upstream.close();
  ASSERT_TRUE(run_until([&] { return client.received().starts_with("HTTP/1.1 502 "); }));
  run_for(milliseconds(20));
  EXPECT_EQ(origin.waiting(), 0u);
  EXPECT_EQ(worker().stats.retried.value(), 0u);
}

TEST_F(OriginPoolTest, a_request_is_retried_once_only) {
  PlainSocket client = connect();
  PlainSocket upstream = first_exchange(client);
  client.send(head("GET"));
  ASSERT_TRUE(gets(upstream, "\r\n\r\n"));
  upstream.close();
  PlainSocket again = accept_from(origin);
  ASSERT_TRUE(gets(again, "\r\n\r\n"));
  again.close();
  ASSERT_TRUE(run_until([&] { return client.received().starts_with("HTTP/1.1 502 "); }));
}

TEST_F(OriginPoolTest, an_idle_connection_is_reset_after_its_time) {
  PlainSocket client = connect();
  PlainSocket upstream = first_exchange(client);
  advance(seconds(59));
  run_for(milliseconds(5));
  ASSERT_EQ(pool().idle(), 1u);
  advance(seconds(2));
  ASSERT_TRUE(ends(upstream));
  EXPECT_EQ(upstream.end(), End::reset) << "an end of ours would leave a port in TIME_WAIT";
  EXPECT_EQ(pool().idle(), 0u);
}

// A connection keeps the limit of the listener that gave it back.
TEST_F(OriginPoolTest, connections_of_two_listeners_go_in_the_order_of_their_limits) {
  Front& hasty = listen_http(with_keepalive(seconds(10)));
  PlainSocket patient_client = connect();
  PlainSocket hasty_client = PlainSocket::connect_to(hasty.endpoint);
  patient_client.send(head("GET"));
  PlainSocket patient = accept_from(origin);
  PlainSocket gone_first = first_exchange(hasty_client);
  patient.send(answer("done"));
  ASSERT_TRUE(gets(patient_client, "done"));
  ASSERT_EQ(pool().idle(), 2u);
  advance(seconds(11));
  ASSERT_TRUE(ends(gone_first));
  EXPECT_EQ(pool().idle(), 1u);
  advance(seconds(50));
  ASSERT_TRUE(ends(patient));
}

TEST_F(OriginPoolTest, each_use_gives_a_connection_its_time_anew) {
  PlainSocket client = connect();
  PlainSocket upstream = first_exchange(client);
  for (int i = 0; i < 3; ++i) {
    advance(seconds(50));
    PlainSocket next = connect();  // the client's own limit is the same
    ASSERT_TRUE(exchange(next, upstream)) << i;
  }
  advance(seconds(61));
  ASSERT_TRUE(ends(upstream));
}

TEST_F(OriginPoolTest, a_connection_of_another_source_address_is_not_used) {
  session::ListenerOptions options = options_for(session::Protocol::http);
  options.source = address("127.0.0.2");
  Front& elsewhere = listen_http(options);
  PlainSocket client = connect();
  PlainSocket upstream = first_exchange(client);
  PlainSocket other_client = PlainSocket::connect_to(elsewhere.endpoint);
  PlainSocket other_upstream = first_exchange(other_client);
  EXPECT_EQ(pool().stats().reused.value(), 0u);
  EXPECT_EQ(pool().idle(), 2u);
  ASSERT_TRUE(exchange(other_client, other_upstream));
  ASSERT_TRUE(exchange(client, upstream));
}

// RFC 4559: what one client has proved of itself is true of the connection.
TEST_F(OriginPoolTest, a_connection_bound_by_authentication_stays_its_clients_own) {
  PlainSocket client = connect();
  PlainSocket upstream = first_exchange(client, "WWW-Authenticate: NTLM\r\n");
  EXPECT_EQ(pool().idle(), 0u);
  PlainSocket stranger = connect();
  PlainSocket strangers_upstream = first_exchange(stranger);
  ASSERT_TRUE(exchange(client, upstream));
  client.close();
  ASSERT_TRUE(ends(upstream));
  EXPECT_EQ(pool().idle(), 1u) << "the stranger's";
}

TEST_F(OriginPoolTest, an_origin_that_announces_its_end_is_not_kept) {
  PlainSocket client = connect();
  PlainSocket upstream = first_exchange(client, "Connection: close\r\n");
  EXPECT_EQ(pool().idle(), 0u);
  ASSERT_TRUE(ends(upstream));
}

TEST_F(OriginPoolTest, draining_closes_what_is_idle) {
  PlainSocket client = connect();
  PlainSocket upstream = first_exchange(client);
  worker().drain();
  EXPECT_EQ(pool().idle(), 0u);
  ASSERT_TRUE(ends(upstream));
  ASSERT_TRUE(ends(client));
}

// Descriptors of a pair each, without a word of HTTP.
TEST_F(OriginPoolTest, beyond_its_limit_the_longest_idle_connection_goes) {
  constexpr size_t kMax = session::OriginPool::kIdleMax;
  std::vector<UniqueFd> origins;
  session::OriginPool own(*loop);
  struct Nobody final : net::Runnable {
    void run() override {}
  } nobody;
  for (size_t i = 0; i <= kMax; ++i) {
    int pair[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair), 0);
    origins.emplace_back(pair[0]);
    auto upstream = std::make_unique<session::Upstream>(nobody);
    ASSERT_TRUE(upstream->socket.open(*loop, UniqueFd(pair[1])).has_value());
    own.adopt(*upstream, i % 2 == 0 ? "even.test:80" : "odd.test:80");
    own.give_back(std::move(upstream), seconds(60));
  }
  EXPECT_EQ(own.idle(), kMax);
  char byte;
  EXPECT_EQ(::recv(origins.front().get(), &byte, 1, MSG_DONTWAIT), 0) << "the first is still there";
  EXPECT_EQ(::recv(origins[1].get(), &byte, 1, MSG_DONTWAIT), -1) << "the second has gone as well";
}

}  // namespace
}  // namespace headrace::io
