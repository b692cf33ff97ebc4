// What an exchange and a connection may cost, counted: system calls and allocations. Time does not
// come in, so the figures are the same on every machine, and a change that makes one of them worse
// fails here. Who lowers one lowers its budget with it.
#include <algorithm>

#include "counted_calls.h"
#include "http_fixture.h"

namespace headrace::io {
namespace {

// For each of the things counted, in all system calls and allocations.
struct Budget {
  double calls;
  double allocations;
};

class BudgetTest : public HttpTest {
 protected:
  BudgetTest() { log.access_lines.reserve(1000); }

  void turn() override {
    Counting counting(counts);
    HttpTest::turn();
  }
  // Does it `times` times, after it was done often enough to have filled pools and grown buffers.
  template <class Action>
  void count(int times, Action action) {
    constexpr int kWarmUps = 4;
    for (int i = 0; i < kWarmUps; ++i) action();
    counts = {};
    for (int i = 0; i < times; ++i) action();
    times_ = times;
  }
  void expect_within(Budget budget) const {
    const double calls = static_cast<double>(counts.all_calls()) / times_;
    const double allocations = static_cast<double>(counts.allocations) / times_;
    EXPECT_LE(calls, budget.calls) << "of " << times_ << ": " << counts;
    EXPECT_LE(allocations, budget.allocations) << "of " << times_ << ": " << counts;
  }

  session::ListenerOptions without_log(session::ListenerOptions options) const {
    options.access_log.reset();
    return options;
  }
  bool passes(PlainSocket& from, PlainSocket& to, const std::string& bytes) {
    from.send(bytes);
    return run_until([&] { return to.received().size() >= bytes.size(); }) &&
           to.take_received() == bytes;
  }
  static std::string without_end(std::string text) { return text.substr(0, text.size() - 2); }
  void all_end() {
    ASSERT_TRUE(run_until([&] { return worker().session_count() == 0; }));
  }

  const std::string request_bytes = pattern(0, 100);
  const std::string answer_bytes = pattern(100, 1024);
  Counts counts;

 private:
  int times_ = 1;
};

constexpr int kTimes = 50;

TEST_F(BudgetTest, relay_exchange) {
  Front& front = listen(without_log(relay_to(origin.endpoint())));
  PlainSocket client = PlainSocket::connect_to(front.endpoint);
  PlainSocket upstream = accept_from(origin);
  count(kTimes, [&] {
    ASSERT_TRUE(passes(client, upstream, request_bytes));
    ASSERT_TRUE(passes(upstream, client, answer_bytes));
  });
  expect_within({6, 0});
}

// Waits are shared by all that is ready.
TEST_F(BudgetTest, relay_exchanges_of_many_at_once) {
  constexpr size_t kTunnels = 64;
  Front& front = listen(without_log(relay_to(origin.endpoint())));
  std::vector<PlainSocket> clients;
  std::vector<PlainSocket> upstreams;
  for (size_t i = 0; i < kTunnels; ++i) {
    clients.push_back(PlainSocket::connect_to(front.endpoint));
    upstreams.push_back(accept_from(origin));
  }
  auto all_pass = [&](std::vector<PlainSocket>& from, std::vector<PlainSocket>& to,
                      const std::string& bytes) {
    for (PlainSocket& socket : from) socket.send(bytes);
    ASSERT_TRUE(run_until([&] {
      return std::all_of(to.begin(), to.end(), [&](PlainSocket& socket) {
        return socket.received().size() >= bytes.size();
      });
    }));
    for (PlainSocket& socket : to) EXPECT_TRUE(socket.take_received() == bytes);
  };
  count(kTimes, [&] {
    all_pass(clients, upstreams, request_bytes);
    all_pass(upstreams, clients, answer_bytes);
  });
  constexpr double kCallsEach = 4.1;
  expect_within({kTunnels * kCallsEach, 0});
}

TEST_F(BudgetTest, http_exchange) {
  Front& front = listen(without_log(options_for(session::Protocol::http)));
  PlainSocket client = PlainSocket::connect_to(front.endpoint);
  PlainSocket upstream = first_exchange(client);
  count(kTimes, [&] { ASSERT_TRUE(exchange(client, upstream)); });
  expect_within({6, 6});
}

// The line's own copy in the test's log is one allocation of them.
TEST_F(BudgetTest, http_exchange_with_an_access_line) {
  Front& front = listen(options_for(session::Protocol::http));
  PlainSocket client = PlainSocket::connect_to(front.endpoint);
  PlainSocket upstream = first_exchange(client);
  count(kTimes, [&] { ASSERT_TRUE(exchange(client, upstream)); });
  expect_within({6, 10});
}

// What waits behind a request is not copied for each of them.
class PipelineBudgetTest : public BudgetTest,
                           public testing::WithParamInterface<std::string_view> {};
INSTANTIATE_TEST_SUITE_P(Framings, PipelineBudgetTest,
                         testing::Values("", "Content-Length: 5\r\n\r\nhello",
                                         "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"));

TEST_P(PipelineBudgetTest, http_exchanges_that_were_asked_for_at_once) {
  constexpr int kRequests = 400;
  Front& front = listen(without_log(options_for(session::Protocol::http)));
  PlainSocket client = PlainSocket::connect_to(front.endpoint);
  PlainSocket upstream = first_exchange(client);
  const std::string request =
      GetParam().empty() ? head("GET") : without_end(head("POST")) + std::string(GetParam());
  std::string requests;
  for (int i = 0; i < kRequests; ++i) requests += request;
  counts = {};
  client.send(requests);
  const std::string end = GetParam().empty() ? "\r\n\r\n" : request.substr(request.size() - 5);
  for (int i = 0; i < kRequests; ++i) {
    ASSERT_TRUE(gets(upstream, end)) << i;
    upstream.send(answer("done"));
    ASSERT_TRUE(gets(client, "\r\n\r\ndone")) << i;
  }
  constexpr size_t kBytesEach = 4096;
  EXPECT_LE(counts.allocated_bytes / kRequests, kBytesEach) << counts;
}

TEST_F(BudgetTest, relay_connection_with_one_exchange) {
  Front& front = listen(without_log(relay_to(origin.endpoint())));
  count(kTimes, [&] {
    PlainSocket client = PlainSocket::connect_to(front.endpoint);
    PlainSocket upstream = accept_from(origin);
    ASSERT_TRUE(passes(client, upstream, request_bytes));
    ASSERT_TRUE(passes(upstream, client, answer_bytes));
    upstream.close();
    ASSERT_TRUE(ends(client));
    client.close();
    all_end();
  });
  expect_within({23, 8});
}

TEST_F(BudgetTest, http_connection_with_one_exchange) {
  Front& front = listen(without_log(options_for(session::Protocol::http)));
  PlainSocket first = PlainSocket::connect_to(front.endpoint);
  PlainSocket upstream = first_exchange(first);
  first.close();
  all_end();
  count(kTimes, [&] {
    PlainSocket client = PlainSocket::connect_to(front.endpoint);
    client.send(head("GET", "Connection: close\r\n"));
    ASSERT_TRUE(gets(upstream, "\r\n\r\n"));
    upstream.send(answer("done"));
    ASSERT_TRUE(gets(client, "\r\n\r\ndone"));
    ASSERT_TRUE(ends(client));
    client.close();
    all_end();
  });
  expect_within({10, 9});
}

TEST_F(BudgetTest, connect_tunnel_from_accept_to_end) {
  Front& front = listen(without_log(options_for(session::Protocol::http)));
  count(kTimes, [&] {
    PlainSocket client = PlainSocket::connect_to(front.endpoint);
    client.send("CONNECT " + origin.name() + " HTTP/1.1\r\nHost: " + origin.name() + "\r\n\r\n");
    PlainSocket upstream = accept_from(origin);
    ASSERT_TRUE(gets(client, "\r\n\r\n"));
    client.close();
    ASSERT_TRUE(ends(upstream));
    upstream.close();
    all_end();
  });
  expect_within({21, 12});
}

TEST_F(BudgetTest, socks5_tunnel_from_accept_to_end) {
  Front& front = listen(without_log(options_for(session::Protocol::socks)));
  std::string request("\x05\x01\x00\x01\x7f\x00\x00\x01", 8);
  request.push_back(static_cast<char>(origin.port() >> 8));
  request.push_back(static_cast<char>(origin.port()));
  count(kTimes, [&] {
    PlainSocket client = PlainSocket::connect_to(front.endpoint);
    client.send({"\x05\x01\x00", 3});
    ASSERT_TRUE(run_until([&] { return client.received().size() == 2; }));
    client.send(request);
    PlainSocket upstream = accept_from(origin);
    ASSERT_TRUE(run_until([&] { return client.received().size() == 12; }));
    client.close();
    ASSERT_TRUE(ends(upstream));
    upstream.close();
    all_end();
  });
  expect_within({25, 16});
}

// Behind an origin that is always ahead, as a fast one is.
TEST_F(BudgetTest, splices_of_bulk) {
  constexpr size_t kPieceBytes = 512 * 1024;
  constexpr size_t kPieces = 128;
  Front& front = listen(without_log(relay_to(origin.endpoint())));
  PlainSocket client = PlainSocket::connect_to(front.endpoint);
  PlainSocket upstream = accept_from(origin);
  const std::string bytes = pattern(0, kPieceBytes);
  size_t sent = 0;
  size_t received = 0;
  auto pass = [&](size_t until) {
    ASSERT_TRUE(run_until([&] {
      while (sent < until) {
        const size_t begin = sent % kPieceBytes;
        const size_t taken = upstream.send_some(
            std::string_view(bytes).substr(begin, std::min(until - sent, kPieceBytes - begin)));
        if (taken == 0) break;
        sent += taken;
      }
      client.receive();
      received += client.take().size();
      return received == until;
    }));
  };
  pass(16 * kPieceBytes);
  counts = {};
  pass((16 + kPieces) * kPieceBytes);
  EXPECT_LE(static_cast<double>(counts.of(Call::splice)) / kPieces, 2) << counts;
}

}  // namespace
}  // namespace headrace::io
