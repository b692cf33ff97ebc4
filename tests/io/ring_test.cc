// Sockets from which the ring receives ahead: what comes out is what went in, whoever was faster.
#include "net/ring.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "base/bytes.h"
#include "net/socket.h"
#include "worker_fixture.h"

namespace headrace::io {
namespace {

using net::IoResult;

struct Counter final : net::Runnable {
  int runs = 0;
  void run() override { ++runs; }
};

// One end in the loop, the other the test's.
class RingTest : public WorkerTest {
 protected:
  RingTest() {
    if (!loop->ring()) return;  // SetUp() skips
    open(socket, other);
    run_until([&] { return socket.writable(); });
    socket.clear_readable();
  }

  void open(net::Socket& end, PlainSocket& far_end) {
    far_end = PlainSocket::connect_to(listener.endpoint());
    std::optional<PlainSocket> accepted;
    ASSERT_TRUE(run_until([&] {
      accepted = listener.accept();
      return accepted.has_value();
    }));
    ASSERT_TRUE(end.open(*loop, UniqueFd(::dup(accepted->fd()))));
  }
  void SetUp() override {
    if (!loop->ring()) GTEST_SKIP() << "no io_uring: errno " << loop->ring_errno();
  }

  void ask() { socket.receive_ahead(*loop->ring()); }
  bool becomes_readable() {
    return run_until([&] { return socket.readable(); });
  }
  std::string take(size_t bytes_max = 128 * 1024) {
    std::string text(bytes_max, '\0');
    const IoResult in = socket.receive({reinterpret_cast<uint8_t*>(text.data()), text.size()});
    EXPECT_TRUE(in.moved()) << "kind " << static_cast<int>(in.kind) << " errno " << in.os_errno;
    text.resize(in.bytes);
    return text;
  }
  IoResult receive() { return socket.receive(worker().mover.scratch()); }

  PlainListener listener;
  Counter owner;
  net::Socket socket{owner};
  PlainSocket other;
};

TEST_F(RingTest, what_was_asked_for_arrives_and_runs_the_owner) {
  ask();
  EXPECT_TRUE(receive().blocked());
  run_for(std::chrono::milliseconds(5));
  const int runs = owner.runs;
  other.send("hello");
  ASSERT_TRUE(becomes_readable());
  EXPECT_EQ(owner.runs, runs + 1);
  EXPECT_EQ(take(), "hello");
  EXPECT_FALSE(socket.readable());
}

TEST_F(RingTest, what_came_before_it_was_asked_for_arrives_too) {
  other.send("early");
  ASSERT_TRUE(run_until([&] { return other.unsent_bytes() == 0; }));
  ask();
  ASSERT_TRUE(becomes_readable());
  EXPECT_EQ(take(), "early");
}

TEST_F(RingTest, nothing_is_received_that_was_not_asked_for) {
  ask();
  other.send("one");
  ASSERT_TRUE(becomes_readable());
  EXPECT_EQ(take(), "one");
  other.send("two");
  run_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(socket.readable());
  ask();
  ASSERT_TRUE(becomes_readable());
  EXPECT_EQ(take(), "two");
}

TEST_F(RingTest, an_arrival_is_taken_in_pieces) {
  ask();
  other.send("abcdef");
  ASSERT_TRUE(becomes_readable());
  EXPECT_EQ(take(4), "abcd");
  EXPECT_TRUE(socket.readable());
  EXPECT_EQ(take(4), "ef");
  EXPECT_FALSE(socket.readable());
}

TEST_F(RingTest, more_than_a_buffer_holds_stays_readable_and_in_order) {
  const std::string sent = pattern(0, 3 * net::Ring::kBufferBytes);
  other.send(sent);
  ASSERT_TRUE(other.flush());
  ask();
  std::string got;
  ASSERT_TRUE(run_until([&] {
    while (socket.readable() && got.size() < sent.size()) got += take();
    return got.size() == sent.size();
  }));
  EXPECT_EQ(got, sent);
}

TEST_F(RingTest, an_end_arrives_behind_the_bytes) {
  ask();
  other.send("last");
  other.shut_writes();
  ASSERT_TRUE(becomes_readable());
  EXPECT_EQ(take(), "last");
  if (!socket.readable()) ask();  // the hang-up may have been told already
  ASSERT_TRUE(becomes_readable());
  EXPECT_TRUE(receive().ended());
}

TEST_F(RingTest, a_reset_arrives_as_an_error_and_stays_one) {
  ask();
  turn();
  other.reset();
  ASSERT_TRUE(becomes_readable());
  const IoResult in = receive();
  EXPECT_TRUE(in.failed());
  EXPECT_EQ(in.os_errno, ECONNRESET);
}

TEST_F(RingTest, a_failed_send_ends_the_receive_under_way) {
  ask();
  turn();
  other.send("last words");
  ASSERT_TRUE(other.flush());
  other.reset();
  const std::string text = "x";
  IoResult sent;
  // The loop is not turned: the failure is known before what has arrived.
  const net::Instant begin = system_clock.now();
  do {
    sent = socket.send(as_bytes(text));
  } while (!sent.failed() && system_clock.now() - begin < std::chrono::seconds(5));
  ASSERT_TRUE(sent.failed());
  EXPECT_FALSE(socket.readable());
  ASSERT_TRUE(becomes_readable());
  EXPECT_FALSE(socket.receiving());
}

TEST_F(RingTest, back_with_events_it_is_told_of_what_came_meanwhile) {
  ask();
  other.send("first");
  ASSERT_TRUE(becomes_readable());
  EXPECT_EQ(take(), "first");
  other.send("second");
  ASSERT_TRUE(other.flush());
  run_for(std::chrono::milliseconds(5));
  EXPECT_FALSE(socket.readable());
  socket.expect_event();
  ASSERT_TRUE(becomes_readable());
  EXPECT_EQ(take(), "second");
}

TEST_F(RingTest, a_socket_closed_with_a_receive_under_way_ends_for_the_other_side) {
  ask();
  turn();
  socket.close();
  ASSERT_TRUE(run_until([&] { return other.end() != PlainSocket::End::open; }));
  EXPECT_EQ(other.end(), PlainSocket::End::clean);
  EXPECT_FALSE(loop->ring()->in_use());
}

TEST_F(RingTest, a_socket_reset_with_a_receive_under_way_resets_the_other_side) {
  ask();
  turn();
  socket.reset();
  ASSERT_TRUE(run_until([&] { return other.end() != PlainSocket::End::open; }));
  EXPECT_EQ(other.end(), PlainSocket::End::reset);
}

// The number of the closed descriptor belongs to the next connection, whose bytes are nobody
// else's.
TEST_F(RingTest, a_wish_of_a_closed_socket_takes_nothing_from_the_next_with_its_number) {
  ask();
  net::Socket next(owner);
  PlainSocket far_end = PlainSocket::connect_to(listener.endpoint());
  std::optional<PlainSocket> accepted;
  const net::Instant begin = system_clock.now();
  while (!accepted && system_clock.now() - begin < std::chrono::seconds(5))
    accepted = listener.accept();
  ASSERT_TRUE(accepted);
  const int number = socket.fd();
  socket.close();
  ASSERT_TRUE(next.open(*loop, UniqueFd(::fcntl(accepted->fd(), F_DUPFD_CLOEXEC, number))));
  ASSERT_EQ(next.fd(), number);
  far_end.send("mine");
  run_for(std::chrono::milliseconds(20));
  accepted->receive();
  EXPECT_EQ(accepted->take(), "mine");
}

TEST_F(RingTest, without_a_free_buffer_it_is_told_that_something_came) {
  constexpr size_t kMany = net::Ring::kBuffers + 40;
  std::vector<std::unique_ptr<net::Socket>> sockets;
  std::vector<PlainSocket> others(kMany);
  for (PlainSocket& far_end : others) {
    sockets.push_back(std::make_unique<net::Socket>(owner));
    open(*sockets.back(), far_end);
  }
  run_for(std::chrono::milliseconds(5));
  for (size_t i = 0; i < kMany; ++i) {
    sockets[i]->clear_readable();
    sockets[i]->receive_ahead(*loop->ring());
    others[i].send(std::to_string(i));
  }
  // Nobody takes anything until all have come.
  ASSERT_TRUE(run_until([&] {
    return std::all_of(sockets.begin(), sockets.end(),
                       [](const auto& each) { return each->readable(); });
  }));
  for (size_t i = 0; i < kMany; ++i) {
    const IoResult in = sockets[i]->receive(worker().mover.scratch());
    ASSERT_TRUE(in.moved()) << i;
    EXPECT_EQ(as_text(worker().mover.scratch().first(in.bytes)), std::to_string(i));
  }
  // And the buffers are free again.
  ask();
  other.send("still");
  ASSERT_TRUE(becomes_readable());
  EXPECT_EQ(take(), "still");
}

TEST_F(RingTest, room_to_write_is_told_of_while_the_ring_receives) {
  ask();
  turn();
  const std::string filler(256 * 1024, 'x');
  while (socket.writable()) (void)socket.send(as_bytes(filler));
  ASSERT_TRUE(run_until([&] {
    other.receive();
    return socket.writable();
  }));
}

}  // namespace
}  // namespace headrace::io
