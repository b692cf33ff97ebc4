// What name servers answer, and what must not pass for an answer.
#include <algorithm>
#include <map>
#include <set>

#include "base/target.h"
#include "resolver_fixture.h"

namespace headrace::dns {
namespace {

using Answers = std::vector<std::string>;

TEST_F(ResolverTest, a_and_aaaa_are_asked_together_and_both_arrive) {
  server.answer([](const auto& asked) {
    Message message(asked);
    if (asked.type == kA) return Answers{message.a("192.0.2.1").a("192.0.2.2").bytes()};
    return Answers{message.aaaa("2001:db8::1").bytes()};
  });
  const auto asker = ask("o.example.test");
  EXPECT_FALSE(asker->lookup.v4().answered);
  EXPECT_FALSE(asker->lookup.v6().answered);
  ASSERT_TRUE(run_until_finished(*asker));
  EXPECT_EQ(text_of(asker->lookup.v4().addresses), "192.0.2.1 192.0.2.2");
  EXPECT_EQ(text_of(asker->lookup.v6().addresses), "2001:db8::1");
  EXPECT_EQ(server.count("o.example.test", kA), 1u);
  EXPECT_EQ(server.count("o.example.test", kAaaa), 1u);
  EXPECT_EQ(server.asked().size(), 2u);
  turn();
  EXPECT_GE(asker->runs, 1) << "its owner was not told";
}

TEST_F(ResolverTest, b136_a_silent_family_does_not_hold_back_the_other) {
  for (const uint16_t silent : {kA, kAaaa}) {
    server.answer([&](const auto& asked) {
      if (asked.type == silent) return Answers{};
      return Answers{Message(asked).any_address().bytes()};
    });
    const auto asker = ask(silent == kA ? "six.test" : "four.test");
    const Lookup::Family& good = silent == kA ? asker->lookup.v6() : asker->lookup.v4();
    const Lookup::Family& bad = silent == kA ? asker->lookup.v4() : asker->lookup.v6();
    ASSERT_TRUE(run_until([&] { return good.answered; }));
    EXPECT_LT(took(), kAtOnce);
    EXPECT_EQ(good.addresses.size(), 1u);
    turn();
    EXPECT_GE(asker->runs, 1) << "its owner was not told";
    EXPECT_FALSE(bad.answered);
  }
}

TEST_F(ResolverTest, a_name_without_addresses_of_one_family_is_known_by_the_other) {
  server.answer([](const auto& asked) {
    Message message(asked);
    if (asked.type == kA) message.a("192.0.2.1");
    return Answers{message.soa(60).bytes()};
  });
  const auto asker = resolve("four.test");
  EXPECT_EQ(asker->lookup.v4().addresses.size(), 1u);
  EXPECT_EQ(asker->lookup.v6().error, Errc::name_unknown);
}

TEST_F(ResolverTest, each_kind_of_failure_has_its_reason) {
  const std::map<std::string, Errc> reasons = {
      {"nxdomain.test", Errc::name_unknown}, {"nodata.test", Errc::name_unknown},
      {"servfail.test", Errc::name_failed},  {"refused.test", Errc::name_failed},
      {"formerr.test", Errc::name_failed},   {"silent.test", Errc::name_timed_out}};
  server.answer([](const auto& asked) {
    Message message(asked);
    if (asked.name == "silent.test") return Answers{};
    if (asked.name == "nxdomain.test") message.code(kNxDomain);
    if (asked.name == "servfail.test") message.code(kServFail);
    if (asked.name == "refused.test") message.code(kRefused);
    if (asked.name == "formerr.test") message.code(1);
    return Answers{message.bytes()};
  });
  make_resolver(std::chrono::seconds(2));
  for (const auto& [name, reason] : reasons) {
    const auto asker = resolve(name);
    EXPECT_EQ(asker->lookup.v4().error, reason) << name;
    EXPECT_EQ(asker->lookup.v6().error, reason) << name;
    EXPECT_EQ(asker->lookup.error(), reason) << name;
    EXPECT_TRUE(took() < kAtOnce || reason == Errc::name_timed_out) << name;
  }
}

TEST_F(ResolverTest, an_alias_leads_to_the_addresses_at_its_end) {
  server.answer([](const auto& asked) {
    return Answers{Message(asked).cname("end.test").any_address().bytes()};
  });
  const auto asker = resolve("alias.test");
  EXPECT_EQ(text_of(asker->lookup.v4().addresses), "192.0.2.1");
  EXPECT_EQ(text_of(asker->lookup.v6().addresses), "2001:db8::1");
}

// 60 addresses: more than a datagram of 512 bytes holds.
Message many_addresses(const Question& question) {
  Message message(question);
  for (int i = 1; i <= 60; ++i) {
    if (question.type == kA) message.a("192.0.2." + std::to_string(i));
    if (question.type == kAaaa) message.aaaa("2001:db8::" + std::to_string(i));
  }
  return message;
}

TEST_F(ResolverTest, b140_a_truncated_answer_is_fetched_whole_over_tcp) {
  for (const bool with_a_record : {false, true}) {
    if (!with_a_record) server.listen_for_tcp();
    server.write_in_pieces_of(1);
    server.answer([&](const auto& asked) {
      if (asked.over_tcp) return Answers{many_addresses(asked).bytes()};
      Message message(asked);
      if (with_a_record) message.any_address();
      return Answers{message.truncated().bytes()};
    });
    const auto asker = resolve(with_a_record ? "one.test" : "none.test");
    EXPECT_EQ(asker->lookup.v4().addresses.size(), 60u);
    EXPECT_EQ(asker->lookup.v6().addresses.size(), 60u);
  }
}

TEST_F(ResolverTest, b140_a_truncated_answer_without_tcp_fails_in_time) {
  server.answer([](const auto& asked) { return Answers{Message(asked).truncated().bytes()}; });
  make_resolver(std::chrono::seconds(2));
  const auto refused = resolve("refused.test");
  EXPECT_EQ(refused->lookup.error(), Errc::name_failed);
  EXPECT_LT(took(), std::chrono::milliseconds(3'500));

  server.listen_for_tcp();
  server.close_tcp_at_once();
  const auto closed = resolve("closed.test");
  EXPECT_TRUE(closed->lookup.v4().error && closed->lookup.v6().error);
  EXPECT_LT(took(), std::chrono::milliseconds(3'500));
}

TEST_F(ResolverTest, b142_forged_answers_are_ignored) {
  ScriptedServer forger;
  ScriptedServer other_address("127.0.0.2");
  const auto forged = [](const Question& question) {
    Message message(question);
    return question.type == kA ? message.a("198.51.100.66") : message.aaaa("2001:db8::bad");
  };
  server.answer([&](const auto& asked) {
    forger.send(forged(asked).bytes(), asked.from);  // right id, another port
    other_address.send(forged(asked).bytes(),
                       asked.from);  // right id, another address
    return Answers{forged(asked).id(static_cast<uint16_t>(asked.id + 1)).bytes(),  // wrong id
                   forged(asked).named("other.test").bytes(),  // right id, other question
                   forged(asked).bytes().substr(0, 11),        // not even a header
                   std::string(),                              // an empty datagram
                   Message(asked).any_address().bytes()};
  });
  const auto asker = resolve("forged.test");
  EXPECT_EQ(text_of(asker->lookup.v4().addresses), "192.0.2.1");
  EXPECT_EQ(text_of(asker->lookup.v6().addresses), "2001:db8::1");
}

TEST_F(ResolverTest, b142_all_ids_in_a_burst_from_elsewhere_are_ignored) {
  ScriptedServer forger;
  server.answer([&](const auto& asked) {
    std::string forged = Message(asked).a("198.51.100.66").bytes();
    const bool first = server.count(asked.name, asked.type) == 1;
    for (uint32_t id = 0; first && id < 65'536; ++id) {
      forged[0] = static_cast<char>(id >> 8);
      forged[1] = static_cast<char>(id & 0xff);
      forger.send(forged, asked.from);
    }
    return Answers{Message(asked).any_address().bytes()};
  });
  make_resolver(std::chrono::seconds(30));
  const auto asker = resolve("burst.test");
  EXPECT_EQ(text_of(asker->lookup.v4().addresses), "192.0.2.1");
}

TEST_F(ResolverTest, b142_ids_and_source_ports_vary) {
  constexpr size_t kNames = 64;
  for (size_t i = 0; i < kNames; ++i) resolve("n" + std::to_string(i) + ".test");
  std::set<uint16_t> ids;
  std::set<uint16_t> ports;
  size_t steps_of_one = 0;
  for (size_t i = 0; i < server.asked().size(); ++i) {
    ids.insert(server.asked()[i].id);
    ports.insert(server.asked()[i].from.port);
    if (i > 0 && static_cast<uint16_t>(server.asked()[i].id - server.asked()[i - 1].id) == 1)
      ++steps_of_one;
  }
  EXPECT_GT(ids.size(), 2 * kNames - 8);
  EXPECT_LT(steps_of_one, 4u) << "the ids count up";
  EXPECT_GT(ports.size(), kNames / 2) << "names share a source port";
}

TEST_F(ResolverTest, names_in_flight_together_are_asked_from_different_ports) {
  server.answer([](const auto&) { return Answers{}; });
  std::vector<std::unique_ptr<Asker>> askers;
  for (int i = 0; i < 16; ++i) askers.push_back(ask("n" + std::to_string(i) + ".test"));
  ASSERT_TRUE(run_until([&] { return server.asked().size() >= 32; }));
  std::set<uint16_t> ports;
  for (const auto& asked : server.asked()) ports.insert(asked.from.port);
  EXPECT_EQ(ports.size(), 16u);
}

TEST_F(ResolverTest, b144_an_answer_in_any_letter_case_is_accepted) {
  for (const char* letters : {"o.example.test", "O.EXAMPLE.TEST", "o.eXaMPle.TEst"}) {
    make_resolver();
    server.answer([&](const auto& asked) {
      return Answers{Message(asked).named(letters).any_address().bytes()};
    });
    const auto asker = resolve("o.example.test");
    EXPECT_EQ(text_of(asker->lookup.v4().addresses), "192.0.2.1") << letters;
  }
}

TEST_F(ResolverTest, b144_all_spellings_are_one_name) {
  for (const char* spelling :
       {"O.Example.Test", "o.example.test", "O.EXAMPLE.TEST", "o.example.test."}) {
    const auto asker = resolve(Host::parse(spelling).value().name());
    EXPECT_EQ(text_of(asker->lookup.v4().addresses), "192.0.2.1") << spelling;
  }
  EXPECT_EQ(server.asked().size(), 2u);
  EXPECT_EQ(resolver->stats().cache_hits, 3u);
}

}  // namespace
}  // namespace headrace::dns
