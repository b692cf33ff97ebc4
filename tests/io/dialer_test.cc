// From a target to a connection: which addresses are tried, when, and what is said when none
// stands. The clock is moved by hand, so an attempt that is due shows, and one that is not as well.
#include "session/dialer.h"

#include <gtest/gtest.h>

#include "descriptor_limit.h"
#include "worker_fixture.h"

namespace headrace::io {
namespace {

using session::Dialer;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kHosts =
    "127.0.0.2 two.test\n"
    "127.0.0.3 two.test\n"
    "127.0.0.2 six.test\n"
    "127.0.0.3 six.test\n"
    "127.0.0.4 six.test\n"
    "127.0.0.5 six.test\n"
    "127.0.0.6 six.test\n"
    "127.0.0.7 six.test\n"
    "127.0.0.2 both.test\n"
    "127.0.0.3 both.test\n"
    "::1 both.test\n";

struct Waiter final : net::Runnable {
  void run() override { ++runs; }
  int runs = 0;
};

class DialerTest : public WorkerTest {
 protected:
  DialerTest() : WorkerTest(Time::manual, kHosts) {}

  std::unique_ptr<Dialer> dial(const std::string& host, uint16_t port) {
    target = Target{Host::parse(host).value(), port};
    return std::make_unique<Dialer>(
        worker(), waiter,
        session::DialOptions{
            target, policy, client, {}, access::How::forward, source, seconds(10)});
  }
  bool finishes(Dialer& dialer) {
    return run_until([&] { return dialer.finished(); });
  }
  // What a few turns of the loop change.
  void settle() { run_for(milliseconds(5)); }
  // Who was reached.
  static std::string dialled(const Result<std::unique_ptr<session::Upstream>>& result) {
    return result ? (*result)->address.address.to_string()
                  : std::string(name_of(result.error().what));
  }

  Target target;
  access::Policy policy{{}, {}};
  access::Client client;
  std::optional<IpAddress> source;
  Waiter waiter;
};

TEST_F(DialerTest, a_literal_is_dialled_and_its_owner_is_told) {
  PlainListener origin;
  auto dialer = dial("127.0.0.1", origin.port());
  ASSERT_TRUE(finishes(*dialer));
  turn();
  EXPECT_GE(waiter.runs, 1);
  auto result = dialer->take_result();
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ((*result)->address, origin.endpoint());
  EXPECT_EQ(origin.waiting(), 1u);
}

TEST_F(DialerTest, a_refusal_is_told_as_one) {
  RefusedPort nobody;
  auto dialer = dial("127.0.0.1", nobody.port());
  ASSERT_TRUE(finishes(*dialer));
  auto result = dialer->take_result();
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error(), (Error{Errc::connect_refused, Side::upstream, ECONNREFUSED}));
}

TEST_F(DialerTest, an_address_that_does_not_answer_is_given_up_at_connect_timeout) {
  BlackHole hole;
  auto dialer = dial("127.0.0.1", hole.port());
  advance(milliseconds(9'990));
  settle();
  EXPECT_FALSE(dialer->finished());
  advance(milliseconds(20));
  ASSERT_TRUE(finishes(*dialer));
  EXPECT_EQ(dialer->take_result().error(), (Error{Errc::connect_timed_out, Side::upstream}));
}

TEST_F(DialerTest, the_next_address_is_tried_at_once_when_one_refuses) {
  const uint16_t port = free_port({"127.0.0.2", "127.0.0.3"});
  PlainListener origin("127.0.0.3", port);
  RefusedPort nobody("127.0.0.2", port);
  auto dialer = dial("two.test", port);
  ASSERT_TRUE(finishes(*dialer));
  EXPECT_EQ(dialled(dialer->take_result()), "127.0.0.3");
}

TEST_F(DialerTest, the_next_address_is_tried_after_a_quarter_second_of_silence_and_not_before) {
  const uint16_t port = free_port({"127.0.0.2", "127.0.0.3"});
  PlainListener origin("127.0.0.3", port);
  BlackHole hole("127.0.0.2", port);
  auto dialer = dial("two.test", port);
  advance(milliseconds(240));
  settle();
  EXPECT_EQ(origin.waiting(), 0u);
  EXPECT_FALSE(dialer->finished());
  advance(milliseconds(20));
  ASSERT_TRUE(finishes(*dialer));
  EXPECT_EQ(dialled(dialer->take_result()), "127.0.0.3");
}

TEST_F(DialerTest, the_first_address_wins_where_it_answers) {
  const uint16_t port = free_port({"127.0.0.2", "127.0.0.3"});
  PlainListener first("127.0.0.2", port);
  PlainListener second("127.0.0.3", port);
  auto dialer = dial("two.test", port);
  ASSERT_TRUE(finishes(*dialer));
  EXPECT_EQ(dialled(dialer->take_result()), "127.0.0.2");
  advance(seconds(1));
  settle();
  EXPECT_EQ(second.waiting(), 0u);
}

// The attempts that lost are dropped, also those that still waited.
TEST_F(DialerTest, one_connection_is_left_when_one_has_won) {
  const uint16_t port = free_port({"127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"});
  PlainListener origin("127.0.0.5", port);
  BlackHole hole_2("127.0.0.2", port);
  BlackHole hole_3("127.0.0.3", port);
  RefusedPort nobody_4("127.0.0.4", port);
  const size_t before = open_descriptors();
  auto dialer = dial("six.test", port);
  advance(milliseconds(260));
  settle();
  EXPECT_EQ(open_descriptors(), before + 2);
  advance(milliseconds(260));
  ASSERT_TRUE(run_until([&] {
    advance(milliseconds(260));
    turn();
    return dialer->finished();
  }));
  auto result = dialer->take_result();
  EXPECT_EQ(dialled(result), "127.0.0.5");
  EXPECT_EQ(open_descriptors(), before + 1);
}

TEST_F(DialerTest, no_more_than_four_attempts_are_under_way) {
  const uint16_t port =
      free_port({"127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5", "127.0.0.6", "127.0.0.7"});
  std::vector<std::unique_ptr<BlackHole>> holes;
  for (const char* where :
       {"127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5", "127.0.0.6", "127.0.0.7"})
    holes.push_back(std::make_unique<BlackHole>(where, port));
  const size_t before = open_descriptors();
  auto dialer = dial("six.test", port);
  for (size_t attempts = 1; attempts <= Dialer::kAttemptsMax; ++attempts) {
    settle();
    EXPECT_EQ(open_descriptors(), before + attempts);
    advance(milliseconds(260));
  }
  settle();
  EXPECT_EQ(open_descriptors(), before + Dialer::kAttemptsMax);
  advance(seconds(10));
  ASSERT_TRUE(finishes(*dialer));
  EXPECT_EQ(dialled(dialer->take_result()), "connect_timed_out");
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(DialerTest, when_all_refuse_that_is_the_reason) {
  const uint16_t port = free_port({"127.0.0.2", "127.0.0.3"});
  RefusedPort second("127.0.0.3", port);
  RefusedPort first("127.0.0.2", port);
  auto dialer = dial("two.test", port);
  ASSERT_TRUE(finishes(*dialer));
  EXPECT_EQ(dialer->take_result().error(),
            (Error{Errc::connect_refused, Side::upstream, ECONNREFUSED}));
}

TEST_F(DialerTest, ipv6_is_tried_first) {
  const uint16_t port = free_port({"::1", "127.0.0.2"});
  PlainListener origin6("::1", port);
  PlainListener origin4("127.0.0.2", port);
  auto dialer = dial("both.test", port);
  ASSERT_TRUE(finishes(*dialer));
  EXPECT_EQ(dialled(dialer->take_result()), "::1");
  EXPECT_EQ(origin4.waiting(), 0u);
}

TEST_F(DialerTest, ipv4_follows_where_ipv6_leads_nowhere) {
  const uint16_t port = free_port({"::1", "127.0.0.2"});
  PlainListener origin4("127.0.0.2", port);
  {
    RefusedPort nobody6("::1", port);
    auto dialer = dial("both.test", port);
    ASSERT_TRUE(finishes(*dialer));
    EXPECT_EQ(dialled(dialer->take_result()), "127.0.0.2");
  }
  BlackHole hole6("::1", port);
  auto dialer = dial("both.test", port);
  advance(milliseconds(260));
  ASSERT_TRUE(finishes(*dialer));
  EXPECT_EQ(dialled(dialer->take_result()), "127.0.0.2");
}

// A client from elsewhere may not be led to this host by a name, whatever else the name says.
TEST_F(DialerTest, an_address_that_the_client_may_not_reach_is_not_dialled) {
  client = access::Client{address("192.0.2.7")};
  PlainListener origin("127.0.0.2");
  auto dialer = dial("two.test", origin.port());
  ASSERT_TRUE(finishes(*dialer));
  EXPECT_EQ(dialer->take_result().error(), (Error{Errc::inside_denied, Side::local}));
  EXPECT_EQ(origin.waiting(), 0u);
}

TEST_F(DialerTest, of_a_name_only_the_addresses_allowed_are_dialled) {
  const uint16_t port = free_port({"127.0.0.2", "127.0.0.3"});
  PlainListener ours("127.0.0.2", port);
  PlainListener origin("127.0.0.3", port);
  policy = access::Policy({}, access::OwnListeners({{address("127.0.0.2"), port}}, {}));
  auto dialer = dial("two.test", port);
  ASSERT_TRUE(finishes(*dialer));
  EXPECT_EQ(dialled(dialer->take_result()), "127.0.0.3");
  EXPECT_EQ(ours.waiting(), 0u);
}

TEST_F(DialerTest, a_denied_address_is_the_reason_where_the_others_fail) {
  const uint16_t port = free_port({"127.0.0.2", "127.0.0.3"});
  RefusedPort nobody("127.0.0.3", port);
  policy = access::Policy({}, access::OwnListeners({{address("127.0.0.2"), port}}, {}));
  auto dialer = dial("two.test", port);
  ASSERT_TRUE(finishes(*dialer));
  EXPECT_EQ(dialer->take_result().error(), (Error{Errc::loop, Side::local}));
}

TEST_F(DialerTest, dials_from_the_source_address) {
  source = address("127.0.0.9");
  PlainListener origin;
  auto dialer = dial("127.0.0.1", origin.port());
  ASSERT_TRUE(finishes(*dialer));
  auto result = dialer->take_result();
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(net::local_endpoint((*result)->socket.fd()).value().address, *source);
}

TEST_F(DialerTest, addresses_of_another_family_than_the_source_are_left_out) {
  const uint16_t port = free_port({"::1", "127.0.0.2"});
  source = address("127.0.0.9");
  PlainListener origin4("127.0.0.2", port);
  PlainListener origin6("::1", port);
  auto dialer = dial("both.test", port);
  ASSERT_TRUE(finishes(*dialer));
  EXPECT_EQ(dialled(dialer->take_result()), "127.0.0.2");
  auto literal = dial("[::1]", port);
  ASSERT_TRUE(finishes(*literal));
  EXPECT_EQ(dialled(literal->take_result()), "family_unsupported");
}

TEST_F(DialerTest, a_shortage_of_descriptors_is_our_own_fault_and_passes) {
  PlainListener origin;
  {
    DescriptorLimit limit(0);
    auto dialer = dial("127.0.0.1", origin.port());
    ASSERT_TRUE(finishes(*dialer));
    EXPECT_EQ(dialer->take_result().error(),
              (Error{Errc::out_of_descriptors, Side::local, EMFILE}));
  }
  auto dialer = dial("127.0.0.1", origin.port());
  ASSERT_TRUE(finishes(*dialer));
  EXPECT_TRUE(dialer->take_result().has_value());
}

TEST_F(DialerTest, a_dialer_that_is_destroyed_dials_no_more) {
  const uint16_t port = free_port({"127.0.0.2", "127.0.0.3"});
  PlainListener origin("127.0.0.3", port);
  BlackHole hole("127.0.0.2", port);
  const size_t before = open_descriptors();
  dial("two.test", port).reset();
  advance(seconds(1));
  settle();
  EXPECT_EQ(origin.waiting(), 0u);
  EXPECT_EQ(open_descriptors(), before);
}

}  // namespace
}  // namespace headrace::io
