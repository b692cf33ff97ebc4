// One way with a limit, as the body of an HTTP message has one: not a byte beyond it is touched.
#include <array>

#include "net/socket.h"
#include "relay/direction.h"
#include "relay_fixture.h"

namespace headrace::io {
namespace {

using relay::Direction;
using relay::SpliceMode;
using relay::Want;

struct NobodyRuns final : net::Runnable {
  void run() override {}  // the test itself pumps
};

class DirectionLimitTest : public WorkerTest, public testing::WithParamInterface<SpliceMode> {
 protected:
  DirectionLimitTest() {
    from = PlainSocket::connect_to(listener.endpoint());
    open(source);
    to = PlainSocket::connect_to(listener.endpoint());
    open(destination);
  }
  ~DirectionLimitTest() override { direction.abandon(worker().mover); }

  // Pumps until it is over or has failed.
  Want pump_to_the_end() {
    Want want = Want::again;
    EXPECT_TRUE(run_until([&] {
      from.flush();
      to.receive();
      want = direction.pump(source, destination, worker().mover);
      return want == Want::over || want == Want::source_failed || want == Want::destination_failed;
    }));
    return want;
  }
  // What nobody has read, up to the sender's end.
  std::string left_in_source() {
    from.shut_writes();
    PlainSocket rest(UniqueFd(::dup(source.fd())));
    EXPECT_TRUE(run_until([&] { return rest.end() == PlainSocket::End::clean; }));
    return rest.received();
  }
  bool arrives(const std::string& bytes) {
    return run_until([&] { return to.received().size() >= bytes.size(); }) &&
           to.received() == bytes;
  }

  PlainListener listener;
  PlainSocket from;
  PlainSocket to;
  NobodyRuns nobody;
  net::Socket source{nobody};
  net::Socket destination{nobody};
  Direction direction;

  void reopen(net::Socket& socket) {
    socket.close();
    open(socket);
  }

 private:
  void open(net::Socket& socket) {
    PlainSocket accepted = accept_from(listener);
    EXPECT_TRUE(socket.open(*loop, UniqueFd(::dup(accepted.fd()))).has_value());
  }
};

std::string name_of_mode(const testing::TestParamInfo<SpliceMode>& info) {
  switch (info.param) {
    case SpliceMode::automatic:
      return "automatic";
    case SpliceMode::always:
      return "splice";
    case SpliceMode::never:
      return "copy";
  }
  return "";
}
INSTANTIATE_TEST_SUITE_P(Paths, DirectionLimitTest,
                         testing::Values(SpliceMode::automatic, SpliceMode::always,
                                         SpliceMode::never),
                         name_of_mode);

TEST_P(DirectionLimitTest, moves_exactly_its_limit_and_leaves_the_rest_unread) {
  uint64_t begin = 0;
  // Around what decides between copying and splicing, and around pages, pipes and buffers.
  for (const size_t limit :
       {1, 4'096, 16'383, 16'384, 65'535, 65'536, 131'072, 200'001, 1'500'000}) {
    const std::string body = pattern(begin += limit, limit);
    from.send(body);
    from.send("the next message");
    direction.start(limit, GetParam());
    ASSERT_EQ(pump_to_the_end(), Want::over) << limit;
    EXPECT_EQ(direction.moved_bytes(), limit);
    EXPECT_EQ(direction.remaining_bytes(), 0u);
    EXPECT_TRUE(direction.idle());
    EXPECT_TRUE(arrives(body)) << limit;
    to.take_received();

    // What was left is what the next one begins with.
    direction.start(16, GetParam());
    ASSERT_EQ(pump_to_the_end(), Want::over) << limit;
    EXPECT_TRUE(arrives("the next message")) << limit;
    to.take_received();
  }
  from.send("surplus");
  EXPECT_EQ(left_in_source(), "surplus");
  EXPECT_EQ(worker().mover.pipes.leased(), 0u);
}

TEST_P(DirectionLimitTest, nothing_is_read_for_a_limit_of_nought) {
  from.send("the next message");
  direction.start(0, GetParam());
  EXPECT_EQ(pump_to_the_end(), Want::over);
  EXPECT_EQ(left_in_source(), "the next message");
}

TEST_P(DirectionLimitTest, a_source_that_ends_before_the_limit_has_failed) {
  const std::string bytes = pattern(0, 100'000);
  from.send(bytes);
  from.shut_writes();
  direction.start(bytes.size() + 1, GetParam());
  EXPECT_EQ(pump_to_the_end(), Want::source_failed);
  EXPECT_EQ(direction.os_errno(), 0) << "it ended, nothing failed in the kernel";
  EXPECT_EQ(direction.remaining_bytes(), 1u);
  EXPECT_TRUE(arrives(bytes)) << "what came is passed on all the same";
}

TEST_P(DirectionLimitTest, bytes_put_in_front_do_not_count) {
  const std::string body = pattern(0, 70'000);
  direction.start(body.size(), GetParam());
  direction.prepend(as_bytes("head "));
  from.send(body);
  from.send("!");
  ASSERT_EQ(pump_to_the_end(), Want::over);
  EXPECT_TRUE(arrives("head " + body));
  EXPECT_EQ(left_in_source(), "!");
}

// What is made in the first phase of a turn leaves in the second, before what is received behind
// it.
TEST_P(DirectionLimitTest, what_is_parked_leaves_in_the_second_phase_and_in_order) {
  relay::Mover& mover = worker().mover;
  const std::string body = pattern(0, 70'000);
  from.send(body);
  direction.start(body.size(), GetParam());
  {
    relay::ParkingScope first_phase(mover, true);
    const std::array<ByteSpan, 2> pieces{as_bytes("he"), as_bytes("ad ")};
    ASSERT_TRUE(direction.park_or_push(destination, pieces, mover));
    EXPECT_FALSE(direction.idle());
    EXPECT_EQ(direction.pump(source, destination, mover), Want::parked);
    EXPECT_EQ(direction.drain(destination, mover), Want::parked);
  }
  EXPECT_EQ(to.received(), "");
  ASSERT_EQ(pump_to_the_end(), Want::over);
  EXPECT_TRUE(arrives("head " + body));
}

// An end that was announced leaves with the bytes before it; taken back, those leave all the same.
TEST_P(DirectionLimitTest, the_last_bytes_wait_for_a_promised_fin_and_for_no_other) {
  for (const bool fin_comes : {true, false}) {
    from = PlainSocket::connect_to(listener.endpoint());
    reopen(source);
    from.send("last words");
    from.shut_writes();
    direction.start(Direction::kNoLimit, GetParam(), true);
    if (!fin_comes) direction.expect_no_fin();
    ASSERT_TRUE(run_until([&] { return source.hung_up(); }));
    {
      relay::ParkingScope first_phase(worker().mover, true);
      direction.pump(source, destination, worker().mover);
    }
    ASSERT_EQ(pump_to_the_end(), Want::over);
    if (fin_comes) destination.shut_writes();
    EXPECT_TRUE(arrives("last words"));
    if (fin_comes) {
      EXPECT_TRUE(run_until([&] { return to.end() == PlainSocket::End::clean; }));
      to = PlainSocket::connect_to(listener.endpoint());
      reopen(destination);
    }
  }
}

}  // namespace
}  // namespace headrace::io
