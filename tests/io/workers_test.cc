// Workers on threads of their own. Run it under ThreadSanitizer.
#include <array>
#include <atomic>
#include <thread>

#include "workers_fixture.h"

namespace headrace::io {
namespace {

using End = PlainSocket::End;

TEST_F(WorkersTest, clients_are_spread_evenly) {
  session::Listener& listener = listen(options_for(session::Protocol::mixed));
  start();
  constexpr size_t kEach = 10;
  std::vector<PlainSocket> clients;
  for (size_t i = 0; i < kEach * kWorkers; ++i) {
    clients.push_back(PlainSocket::connect_to(endpoint()));
    ASSERT_TRUE(wait_until([&] { return sessions() == clients.size(); }));
  }
  for (size_t i = 0; i < kWorkers; ++i) EXPECT_EQ(listener.live_of(i), kEach) << "worker " << i;
  clients.clear();
  ASSERT_TRUE(wait_until([&] { return listener.live() == 0; }));
}

TEST_F(WorkersTest, tunnels_of_all_workers_move_bytes_at_the_same_time) {
  constexpr size_t kTunnels = 12;
  constexpr size_t kBytes = 300'000;
  PlainListener origin;
  listen(relay_to(origin.endpoint()));
  start();
  std::vector<PlainSocket> clients;
  std::vector<PlainSocket> upstreams;
  for (size_t i = 0; i < kTunnels; ++i) {
    clients.push_back(PlainSocket::connect_to(endpoint()));
    upstreams.push_back(accept_from(origin));
  }
  for (size_t i = 0; i < kTunnels; ++i) {
    clients[i].send(pattern(i << 32, kBytes));
    upstreams[i].send(pattern((i + 100) << 32, kBytes));
  }
  ASSERT_TRUE(wait_until([&] {
    bool all = true;
    for (size_t i = 0; i < kTunnels; ++i) {
      all = clients[i].flush() && upstreams[i].flush() && all;
      all =
          clients[i].received().size() == kBytes && upstreams[i].received().size() == kBytes && all;
    }
    return all;
  }));
  for (size_t i = 0; i < kTunnels; ++i) {
    EXPECT_TRUE(upstreams[i].received() == pattern(i << 32, kBytes)) << i;
    EXPECT_TRUE(clients[i].received() == pattern((i + 100) << 32, kBytes)) << i;
  }
}

TEST_F(WorkersTest, a_burst_of_clients_that_leave_again_leaves_nothing) {
  PlainListener origin;
  session::Listener& listener = listen(relay_to(origin.endpoint()));
  start();
  constexpr int kClients = 150;  // of each of two threads
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < kClients; ++i) {
        PlainSocket client = PlainSocket::connect_to(endpoint());
        client.send("x");
        if (i % 2 == 0) client.reset();
      }
    });
  std::thread origins([&] {
    while (!stop.load()) {
      while (std::optional<PlainSocket> upstream = origin.accept()) upstream->close();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  for (std::thread& thread : threads) thread.join();
  const auto accepted = [&] {
    uint64_t sum = 0;
    for (const auto& worker : workers) sum += worker->worker().stats.accepted.value();
    return sum;
  };
  EXPECT_TRUE(wait_until(
      [&] { return accepted() == 2u * kClients && listener.live() == 0 && sessions() == 0; }));
  stop.store(true);
  origins.join();
}

// Each worker on its own saw room for one more when they asked at the same time.
TEST(ListenerTest, workers_that_ask_at_once_take_no_more_places_than_there_are) {
  constexpr size_t kWorkers = 4;
  constexpr uint32_t kPlaces = 3;
  session::ListenerOptions options = options_for(session::Protocol::mixed);
  options.max_connections = kPlaces;
  session::Listener listener(options, access::Policy({}, {}), kWorkers);
  std::atomic<uint64_t> held{0};
  std::atomic<uint64_t> most{0};
  std::vector<std::thread> threads;
  for (size_t worker = 0; worker < kWorkers; ++worker)
    threads.emplace_back([&, worker] {
      for (int i = 0; i < 20'000; ++i) {
        if (!listener.note_opened(worker)) continue;
        const uint64_t now = held.fetch_add(1) + 1;
        uint64_t known = most.load();
        while (known < now && !most.compare_exchange_weak(known, now)) {
        }
        held.fetch_sub(1);
        listener.note_closed(worker);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(most.load(), kPlaces);
  EXPECT_EQ(listener.live(), 0u);
  for (uint32_t i = 0; i < kPlaces; ++i) EXPECT_TRUE(listener.note_opened(i));
  EXPECT_FALSE(listener.note_opened(0));
  EXPECT_EQ(listener.live(), kPlaces);
}

TEST_F(WorkersTest, draining_ends_sessions_at_rest_and_lets_the_others_finish) {
  PlainListener origin;
  listen(options_for(session::Protocol::mixed));
  start();
  std::vector<PlainSocket> resting;
  for (size_t i = 0; i < 2 * kWorkers; ++i) resting.push_back(PlainSocket::connect_to(endpoint()));
  PlainSocket client = PlainSocket::connect_to(endpoint());
  client.send("CONNECT " + origin.name() + " HTTP/1.1\r\nHost: x\r\n\r\n");
  PlainSocket upstream = accept_from(origin);
  ASSERT_TRUE(wait_until([&] { return client.received().ends_with("\r\n\r\n"); }));
  client.take_received();
  ASSERT_TRUE(wait_until([&] { return sessions() == resting.size() + 1; }));

  for (auto& worker : workers) worker->drain();
  for (PlainSocket& socket : resting) EXPECT_TRUE(ends(socket));
  EXPECT_TRUE(passes(upstream, client, pattern(0, 100'000))) << "the tunnel was not let finish";
  const auto drained = [&] {
    size_t count = 0;
    for (const auto& worker : workers) count += worker->drained() ? 1 : 0;
    return count;
  };
  ASSERT_TRUE(wait_until([&] { return drained() == kWorkers - 1; }));
  PlainSocket late = PlainSocket::connect_to(endpoint());
  EXPECT_TRUE(ends(late)) << "taken while draining";
  upstream.shut_writes();
  client.shut_writes();
  ASSERT_TRUE(ends(client));
  EXPECT_EQ(client.end(), End::clean);
  ASSERT_TRUE(wait_until([&] { return drained() == kWorkers; }));
}

TEST_F(WorkersTest, cutting_resets_everything) {
  PlainListener origin;
  listen(relay_to(origin.endpoint()));
  start();
  std::vector<PlainSocket> clients;
  std::vector<PlainSocket> upstreams;
  for (size_t i = 0; i < 2 * kWorkers; ++i) {
    clients.push_back(PlainSocket::connect_to(endpoint()));
    upstreams.push_back(accept_from(origin));
    ASSERT_TRUE(passes(clients.back(), upstreams.back(), "hello"));
  }
  for (auto& worker : workers) worker->cut();
  for (size_t i = 0; i < clients.size(); ++i) {
    ASSERT_TRUE(ends(clients[i]) && ends(upstreams[i]));
    EXPECT_EQ(clients[i].end(), End::reset);
    EXPECT_EQ(upstreams[i].end(), End::reset);
  }
}

TEST_F(WorkersTest, messages_from_many_threads_run_all_and_in_order) {
  constexpr int kThreads = 4;
  constexpr int kMessages = 2'000;
  listen(options_for(session::Protocol::mixed));
  start();
  std::array<int, kThreads> next{};  // of the worker's thread alone
  std::atomic<int> wrong{0};
  std::atomic<int> run{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < kMessages; ++i)
        workers[0]->post([&, t, i](app::WorkerThread&) {
          if (next[t]++ != i) ++wrong;
          ++run;
        });
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(wait_until([&] { return run.load() == kThreads * kMessages; }));
  EXPECT_EQ(wrong.load(), 0);
}

// With everything that the sessions have: half-open dials, bytes in pipes, answers on their way.
TEST_F(WorkersTest, stopping_in_the_middle_of_traffic_leaves_nothing) {
  PlainListener origin;
  BlackHole hole;
  session::ListenerOptions options = options_for(session::Protocol::mixed);
  options.splice = relay::SpliceMode::always;
  session::Listener& listener = listen(options);
  start();
  std::vector<PlainSocket> clients;
  std::vector<PlainSocket> upstreams;
  for (size_t i = 0; i < 2 * kWorkers; ++i) {
    clients.push_back(PlainSocket::connect_to(endpoint(), {4 * 1024, 0}));
    clients.back().send("CONNECT " + origin.name() + " HTTP/1.1\r\nHost: x\r\n\r\n");
    upstreams.push_back(accept_from(origin));
    upstreams.back().send_some(pattern(0, 8'000'000));
    clients.push_back(PlainSocket::connect_to(endpoint()));
    clients.back().send("CONNECT " + hole.endpoint().to_string() + " HTTP/1.1\r\nHost: x\r\n\r\n");
  }
  ASSERT_TRUE(wait_until([&] { return sessions() == clients.size(); }));
  for (auto& worker : workers) worker->stop();
  for (auto& worker : workers) worker->join();
  EXPECT_EQ(listener.live(), 0u);
  for (PlainSocket& upstream : upstreams) EXPECT_TRUE(ends(upstream));
  workers.clear();
}

}  // namespace
}  // namespace headrace::io
