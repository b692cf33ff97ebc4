// Taking clients: as many as may come, none when the system has run out of something, and again
// when it has not.
#include "descriptor_limit.h"
#include "relay_fixture.h"

namespace headrace::io {
namespace {

using End = PlainSocket::End;
using session::Acceptor;
using std::chrono::milliseconds;

class AcceptorTest : public WorkerTest {
 protected:
  explicit AcceptorTest(Time time = Time::real) : WorkerTest(time) {}

  // Clients that take nothing from the program but a descriptor: it waits for their first byte.
  std::vector<PlainSocket> connect(const Front& front, size_t count) {
    std::vector<PlainSocket> clients;
    for (size_t i = 0; i < count; ++i) clients.push_back(PlainSocket::connect_to(front.endpoint));
    return clients;
  }
  bool all_end(std::vector<PlainSocket>& clients) {
    return run_until([&] {
      return std::all_of(clients.begin(), clients.end(),
                         [](PlainSocket& client) { return client.end() != End::open; });
    });
  }
  session::Stats& stats() { return worker().stats; }
};

TEST_F(AcceptorTest, a_burst_of_clients_is_taken_in_batches_that_grow) {
  Front& front = listen(options_for(session::Protocol::mixed));
  constexpr size_t kClients = 3 * Acceptor::kBatchMax + 1;
  turn();
  std::vector<PlainSocket> clients = connect(front, kClients);
  size_t taken = 0;
  for (size_t batch : {1, 1, 2, 4, 8, 16, 32, Acceptor::kBatchMax, Acceptor::kBatchMax}) {
    turn();
    taken = std::min(taken + batch, kClients);
    EXPECT_EQ(worker().session_count(), taken);
  }
  ASSERT_TRUE(run_until([&] { return worker().session_count() == kClients; }));
  EXPECT_EQ(front.listener->live(), kClients);
  clients.clear();
  ASSERT_TRUE(run_until([&] { return front.listener->live() == 0; }));
  EXPECT_EQ(stats().accepted.value(), kClients);
  EXPECT_EQ(stats().sessions_ended.value(), kClients);
}

TEST_F(AcceptorTest, clients_beyond_max_connections_are_closed_until_one_of_the_others_leaves) {
  session::ListenerOptions options = options_for(session::Protocol::mixed);
  options.max_connections = 3;
  Front& front = listen(options);
  std::vector<PlainSocket> clients = connect(front, 3);
  ASSERT_TRUE(run_until([&] { return worker().session_count() == 3; }));
  std::vector<PlainSocket> surplus = connect(front, 5);
  ASSERT_TRUE(all_end(surplus));
  EXPECT_EQ(stats().refused[static_cast<size_t>(Errc::client_limit)].value(), 5u);
  clients.pop_back();
  ASSERT_TRUE(run_until([&] { return worker().session_count() == 2; }));
  std::vector<PlainSocket> another = connect(front, 1);
  ASSERT_TRUE(run_until([&] { return worker().session_count() == 3; }));
}

// Out of descriptors: clients learn it at once, and do not wait in the backlog.
TEST_F(AcceptorTest, without_descriptors_clients_are_shed_by_means_of_the_reserve) {
  Front& front = listen(options_for(session::Protocol::mixed));
  std::vector<PlainSocket> clients = connect(front, 20);
  DescriptorLimit limit(8);
  ASSERT_TRUE(run_until([&] { return stats().accepted.value() + stats().shed.value() == 20; }));
  EXPECT_EQ(stats().accepted.value(), 8u);
  EXPECT_EQ(stats().refused[static_cast<size_t>(Errc::out_of_descriptors)].value(), 12u);
  ASSERT_TRUE(run_until([&] {
    size_t ended = 0;
    for (PlainSocket& client : clients) ended += client.end() != End::open ? 1 : 0;
    return ended == 12;
  }));
  EXPECT_EQ(log.count("event=shedding reason=out_of_descriptors"), 1u)
      << "once a second, not per client";

  limit.lift();
  std::vector<PlainSocket> more = connect(front, 5);
  ASSERT_TRUE(run_until([&] { return worker().session_count() == 13; }));
}

TEST_F(AcceptorTest, shedding_does_not_spin) {
  Front& front = listen(options_for(session::Protocol::mixed));
  std::vector<PlainSocket> clients = connect(front, 50);
  DescriptorLimit limit(0);
  ASSERT_TRUE(run_until([&] { return stats().shed.value() == 50; }));
  const uint64_t turns = loop->turns();
  const net::Instant end = system_clock.now() + milliseconds(100);
  while (system_clock.now() < end) loop->turn(milliseconds(50));
  EXPECT_LE(loop->turns() - turns, 4u);
}

// Nothing to accept with at all: accepting rests, however many clients wait.
class NoReserveTest : public AcceptorTest {
 protected:
  NoReserveTest() : AcceptorTest(Time::manual), listening("127.0.0.1", 0, 4096) {
    options.protocol = session::Protocol::mixed;
    listener = std::make_unique<session::Listener>(options, access::Policy({}, {}), 1);
    acceptor = std::make_unique<Acceptor>(worker(), *listener, nobody);
  }
  ~NoReserveTest() override {
    acceptor.reset();
    clients.clear();
    EXPECT_TRUE(run_until([&] { return worker().session_count() == 0; }));
  }

  struct NoHandover final : session::Handover {
    void hand_over(size_t, session::Listener&, UniqueFd, std::optional<net::Endpoint>) override {}
  } nobody;
  PlainListener listening;
  session::ListenerOptions options;
  std::unique_ptr<session::Listener> listener;
  std::unique_ptr<Acceptor> acceptor;
  std::vector<PlainSocket> clients;
};

TEST_F(NoReserveTest, accepting_rests_and_comes_back) {
  const net::Endpoint endpoint = listening.endpoint();
  for (int i = 0; i < 5; ++i) clients.push_back(PlainSocket::connect_to(endpoint));
  DescriptorLimit limit(0);
  ASSERT_TRUE(acceptor->open(listening.take_fd()).has_value());
  turn();
  const uint64_t turns = loop->turns();
  const net::Instant end = system_clock.now() + milliseconds(50);
  while (system_clock.now() < end) loop->turn(milliseconds(50));
  EXPECT_LE(loop->turns() - turns, 3u) << "it spins on clients that it cannot take";
  EXPECT_EQ(worker().session_count(), 0u);

  // Still nothing: it looks once, and rests again.
  advance(Acceptor::kPause + milliseconds(5));
  run_for(milliseconds(5));
  EXPECT_EQ(worker().session_count(), 0u);
  EXPECT_EQ(stats().shed.value(), 0u);

  limit.lift();
  advance(Acceptor::kPause + milliseconds(5));
  ASSERT_TRUE(run_until([&] { return worker().session_count() == 5; }));
}

TEST_F(NoReserveTest, the_reserve_is_made_good_when_there_are_descriptors_again) {
  const net::Endpoint endpoint = listening.endpoint();
  {
    clients.push_back(PlainSocket::connect_to(endpoint));
    DescriptorLimit limit(0);
    ASSERT_TRUE(acceptor->open(listening.take_fd()).has_value());
    run_for(milliseconds(5));
  }
  advance(Acceptor::kPause + milliseconds(5));
  ASSERT_TRUE(run_until([&] { return worker().session_count() == 1; }));
  for (int i = 0; i < 3; ++i) clients.push_back(PlainSocket::connect_to(endpoint));
  DescriptorLimit limit(0);
  EXPECT_TRUE(run_until([&] { return stats().shed.value() == 3; }));
}

TEST_F(AcceptorTest, a_shortage_of_descriptors_does_not_touch_standing_tunnels) {
  PlainListener origin;
  for (const relay::SpliceMode mode : {relay::SpliceMode::never, relay::SpliceMode::always}) {
    session::ListenerOptions options = relay_to(origin.endpoint());
    options.splice = mode;
    Front& front = listen(options);
    PlainSocket client = PlainSocket::connect_to(front.endpoint);
    PlainSocket upstream = accept_from(origin);
    const std::string bytes = pattern(0, 100'000);
    DescriptorLimit limit(0);  // not even for a pipe
    upstream.send(bytes);
    ASSERT_TRUE(
        run_until([&] { return upstream.flush() && client.received().size() == bytes.size(); }));
    EXPECT_TRUE(client.received() == bytes);
  }
}

TEST_F(AcceptorTest, a_client_that_left_the_backlog_again_does_no_harm) {
  Front& front = listen(options_for(session::Protocol::mixed));
  PlainSocket gone = PlainSocket::connect_to(front.endpoint);
  gone.reset();
  PlainSocket stays = PlainSocket::connect_to(front.endpoint);
  ASSERT_TRUE(run_until([&] { return worker().session_count() == 1; }));
}

TEST_F(AcceptorTest, a_closed_acceptor_takes_nobody) {
  Front& front = listen(options_for(session::Protocol::mixed));
  front.acceptor->close();
  PlainSocket client = PlainSocket::connect_to(front.endpoint);
  EXPECT_EQ(client.end(), End::reset);
}

}  // namespace
}  // namespace headrace::io
