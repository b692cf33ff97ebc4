// How long answers are kept, who shares them, and what happens when somebody goes.
#include <algorithm>

#include "resolver_fixture.h"

namespace headrace::dns {
namespace {

using Answers = std::vector<std::string>;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

ScriptedServer::Script any_address(uint32_t ttl_seconds) {
  return [ttl_seconds](const auto& asked) {
    return Answers{Message(asked).any_address(ttl_seconds).bytes()};
  };
}

TEST_F(ResolverTest, an_answer_is_kept_for_its_ttl_and_told_at_once) {
  server.answer(any_address(300));
  resolve("o.test");
  clock.advance(seconds(290));
  turn();
  const auto asker = ask("o.test");
  EXPECT_TRUE(asker->lookup.finished());
  EXPECT_EQ(text_of(asker->lookup.v4().addresses), "192.0.2.1");
  EXPECT_EQ(server.asked().size(), 2u);

  clock.advance(seconds(11));
  turn();
  resolve("o.test");
  EXPECT_EQ(server.asked().size(), 4u);
}

TEST_F(ResolverTest, a_ttl_is_bounded_by_a_second_and_an_hour) {
  server.answer(any_address(0));
  resolve("short.test");
  clock.advance(milliseconds(900));
  turn();
  EXPECT_TRUE(ask("short.test")->lookup.finished());
  clock.advance(milliseconds(200));
  turn();
  EXPECT_FALSE(ask("short.test")->lookup.finished());

  server.answer(any_address(7 * 86'400));
  resolve("long.test");
  clock.advance(hours(1) - seconds(10));
  turn();
  EXPECT_TRUE(ask("long.test")->lookup.finished());
  clock.advance(seconds(11));
  turn();
  EXPECT_FALSE(ask("long.test")->lookup.finished());
}

TEST_F(ResolverTest, the_shortest_ttl_on_the_way_counts_also_that_of_an_alias) {
  server.answer([](const auto& asked) {
    return Answers{Message(asked).cname("end.test", 20).any_address(300).any_address(60).bytes()};
  });
  resolve("o.test");
  clock.advance(seconds(19));
  turn();
  EXPECT_TRUE(ask("o.test")->lookup.finished());
  clock.advance(seconds(2));
  turn();
  EXPECT_FALSE(ask("o.test")->lookup.finished());
}

TEST_F(ResolverTest, only_the_family_that_ran_out_is_asked_again) {
  server.answer([](const auto& asked) {
    return Answers{Message(asked).any_address(asked.type == kA ? 300 : 10).bytes()};
  });
  resolve("o.test");
  clock.advance(seconds(20));
  turn();
  const auto asker = ask("o.test");
  EXPECT_TRUE(asker->lookup.v4().answered);
  EXPECT_FALSE(asker->lookup.v6().answered);
  ASSERT_TRUE(run_until_finished(*asker));
  EXPECT_EQ(server.count("o.test", kA), 1u);
  EXPECT_EQ(server.count("o.test", kAaaa), 2u);
}

TEST_F(ResolverTest, b138_a_name_that_appears_is_found_after_five_seconds_at_most) {
  bool exists = false;
  server.answer([&](const auto& asked) {
    Message message(asked);
    if (exists) return Answers{message.any_address().bytes()};
    return Answers{message.code(kNxDomain).soa(3'600).bytes()};
  });
  EXPECT_EQ(resolve("new.test")->lookup.error(), Errc::name_unknown);
  exists = true;
  clock.advance(milliseconds(4'500));
  turn();
  EXPECT_EQ(resolve("new.test")->lookup.error(), Errc::name_unknown) << "not kept for SOA minimum";
  EXPECT_EQ(server.asked().size(), 2u);
  clock.advance(milliseconds(600));
  turn();
  EXPECT_EQ(resolve("new.test")->lookup.v4().addresses.size(), 1u);
}

TEST_F(ResolverTest, b138_a_soa_that_says_less_than_five_seconds_is_obeyed) {
  server.answer([](const auto& asked) {
    Message message(asked);
    if (asked.name == "minimum.test") message.soa(2, 3'600);
    if (asked.name == "ttl.test") message.soa(3'600, 2);  // RFC 2308 section 5: the lesser of both
    return Answers{message.bytes()};
  });
  for (const char* name : {"minimum.test", "ttl.test"}) {
    resolve(name);
    clock.advance(milliseconds(1'800));
    turn();
    EXPECT_TRUE(ask(name)->lookup.finished()) << name;
    clock.advance(milliseconds(300));
    turn();
    EXPECT_FALSE(ask(name)->lookup.finished()) << name;
  }
}

TEST_F(ResolverTest, b138_a_negative_answer_without_soa_is_kept_for_a_second_at_most) {
  server.answer([](const auto& asked) { return Answers{Message(asked).code(kNxDomain).bytes()}; });
  resolve("no-soa.test");
  clock.advance(milliseconds(1'100));
  turn();
  EXPECT_FALSE(ask("no-soa.test")->lookup.finished());
}

TEST_F(ResolverTest, b138_one_servfail_is_tried_again_and_does_no_harm) {
  int servfails = 2;  // one for each family
  server.answer([&](const auto& asked) {
    Message message(asked);
    if (servfails > 0) return --servfails, Answers{message.code(kServFail).bytes()};
    return Answers{message.any_address().bytes()};
  });
  const auto asker = resolve("flaky.test");
  EXPECT_EQ(asker->lookup.v4().addresses.size(), 1u);
  EXPECT_EQ(asker->lookup.v6().addresses.size(), 1u);
  EXPECT_LT(took(), kAtOnce);
}

TEST_F(ResolverTest, b138_a_lost_question_is_sent_again_after_a_second) {
  server.answer([&](const auto& asked) {
    if (server.count(asked.name, asked.type) == 1) return Answers{};
    return Answers{Message(asked).any_address().bytes()};
  });
  const auto asker = resolve("lossy.test");
  EXPECT_EQ(asker->lookup.v4().addresses.size(), 1u);
  EXPECT_LT(took(), milliseconds(2'500));
}

TEST_F(ResolverTest, b138_failures_are_kept_for_a_second_only) {
  bool good = false;
  server.answer([&](const auto& asked) {
    Message message(asked);
    if (good) return Answers{message.any_address().bytes()};
    if (asked.name == "silent.test") return Answers{};
    return Answers{message.code(kServFail).bytes()};
  });
  make_resolver(milliseconds(500));
  const auto silent = ask("silent.test");
  const auto broken = ask("broken.test");
  ASSERT_TRUE(run_until_finished(*broken));
  ASSERT_TRUE(run_until_finished(*silent));
  EXPECT_EQ(silent->lookup.error(), Errc::name_timed_out);
  EXPECT_EQ(broken->lookup.error(), Errc::name_failed);
  EXPECT_TRUE(ask("silent.test")->lookup.finished()) << "RFC 9520: kept for a second";
  good = true;
  clock.advance(milliseconds(1'100));
  turn();
  EXPECT_EQ(resolve("silent.test")->lookup.v4().addresses.size(), 1u);
  EXPECT_EQ(resolve("broken.test")->lookup.v4().addresses.size(), 1u);
}

TEST_F(ResolverTest, lookups_of_one_name_share_its_questions) {
  std::vector<std::unique_ptr<Asker>> askers;
  for (int i = 0; i < 10; ++i) askers.push_back(ask("o.test"));
  for (const auto& asker : askers) ASSERT_TRUE(run_until_finished(*asker));
  EXPECT_EQ(server.asked().size(), 2u);
  EXPECT_EQ(resolver->stats().queries, 2u);
}

TEST_F(ResolverTest, a_lookup_that_joins_late_learns_what_came_before_it) {
  bool six_may_come = false;
  server.answer([&](const auto& asked) {
    if (asked.type == kAaaa && !six_may_come) return Answers{};
    return Answers{Message(asked).any_address().bytes()};
  });
  const auto first = ask("o.test");
  ASSERT_TRUE(run_until([&] { return first->lookup.v4().answered; }));
  const auto second = ask("o.test");
  EXPECT_TRUE(second->lookup.v4().answered);
  EXPECT_FALSE(second->lookup.v6().answered);
  six_may_come = true;
  ASSERT_TRUE(run_until_finished(*second));
  EXPECT_TRUE(first->lookup.finished());
  EXPECT_EQ(server.count("o.test", kA), 1u);
}

TEST_F(ResolverTest, a_lookup_may_go_at_any_time_and_the_answer_is_kept_for_others) {
  auto goes = ask("o.test");
  const auto stays = ask("o.test");
  goes.reset();
  ASSERT_TRUE(run_until_finished(*stays));

  ask("alone.test").reset();
  ASSERT_TRUE(run_until([&] { return server.count("alone.test", kA) == 1; }));
  ASSERT_TRUE(run_until([&] { return ask("alone.test")->lookup.finished(); }));
  EXPECT_EQ(server.count("alone.test", kA), 1u);
}

TEST_F(ResolverTest, a_lookup_may_go_and_another_come_while_an_owner_runs) {
  auto first = ask("o.test");
  auto second = ask("o.test");
  std::unique_ptr<Asker> third;
  first->when_ready = [&] {
    second.reset();
    if (!third) third = ask("third.test");
  };
  ASSERT_TRUE(run_until([&] { return third && third->lookup.finished(); }));
  EXPECT_EQ(second, nullptr);
}

TEST_F(ResolverTest, a_resolver_may_go_with_lookups_open) {
  server.answer([](const auto&) { return Answers{}; });
  server.listen_for_tcp();
  const auto asker = ask("o.test");
  ASSERT_TRUE(run_until([&] { return server.asked().size() == 2; }));
  resolver.reset();
  EXPECT_FALSE(asker->lookup.finished());
  EXPECT_FALSE(asker->lookup.linked());
  const int runs = asker->runs;
  run_for(milliseconds(20));
  EXPECT_EQ(asker->runs, runs);
}

TEST_F(ResolverTest, more_names_than_may_be_in_flight_wait_their_turn) {
  constexpr size_t kWaiting = 10;
  constexpr size_t kNames = Resolver::kNamesInFlightMax + kWaiting;
  server.answer([](const auto&) { return Answers{}; });
  make_resolver(seconds(30));
  const auto name = [](size_t i) { return "n" + std::to_string(i) + ".test"; };
  std::vector<std::unique_ptr<Asker>> askers;
  for (size_t i = 0; i < kNames; ++i) {
    askers.push_back(ask(name(i)));
    server.poll();  // its socket would not hold so many questions
  }
  EXPECT_EQ(resolver->stats().waited, kWaiting);
  EXPECT_EQ(server.asked().size(), 2 * Resolver::kNamesInFlightMax);
  EXPECT_EQ(server.count(name(kNames - 1), kA), 0u);

  const size_t gone = Resolver::kNamesInFlightMax;  // the first of those that wait
  askers[gone].reset();
  server.answer(any_address(300));
  for (size_t i = 0; i < 2 * Resolver::kNamesInFlightMax; ++i)
    server.send(Message(server.asked()[i]).any_address().bytes(), server.asked()[i].from);
  for (const auto& asker : askers) ASSERT_TRUE(!asker || run_until_finished(*asker));
  EXPECT_EQ(server.count(name(kNames - 1), kA), 1u);
  EXPECT_EQ(server.count(name(gone), kA), 0u);
  EXPECT_EQ(resolver->stats().failures, 0u);
}

TEST_F(ResolverTest, a_name_that_waits_has_no_more_time_than_the_others) {
  server.answer([](const auto&) { return Answers{}; });
  make_resolver(milliseconds(300));
  std::vector<std::unique_ptr<Asker>> askers;
  for (size_t i = 0; i < Resolver::kNamesInFlightMax + 1; ++i)
    askers.push_back(ask("n" + std::to_string(i) + ".test"));
  ASSERT_TRUE(run_until_finished(*askers.back()));
  EXPECT_EQ(askers.back()->lookup.error(), Errc::name_timed_out);
  EXPECT_LT(took(), seconds(4));
}

}  // namespace
}  // namespace headrace::dns
