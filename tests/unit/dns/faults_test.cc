// System calls that fail by seed: each name comes to its addresses or to a reason, never to a wrong
// answer and never to silence.
#include <algorithm>

#include "net/sys_faulty.h"
#include "resolver_fixture.h"

namespace headrace::dns {
namespace {

constexpr size_t kAddresses = 40;

// Every other name's answer comes over TCP only.
std::vector<std::string> answer(const ScriptedServer::Asked& asked) {
  Message message(asked);
  const bool long_answer = asked.name.starts_with("long");
  if (long_answer && !asked.over_tcp) return {message.truncated().bytes()};
  for (size_t i = 0; i < (long_answer ? kAddresses : 1); ++i) message.any_address();
  return {message.bytes()};
}

class FaultsTest : public ResolverTest, public testing::WithParamInterface<uint64_t> {
 protected:
  FaultsTest() {
    server.listen_for_tcp();
    server.answer(answer);
  }
  ~FaultsTest() override { net::sys::set_fault_plan({}); }
};

TEST_P(FaultsTest, short_and_interrupted_calls_change_nothing) {
  net::sys::set_fault_plan({.seed = GetParam(), .short_permille = 300, .interrupt_permille = 200});
  for (int i = 0; i < 20; ++i) {
    const auto asker = resolve((i % 2 ? "long" : "short") + std::to_string(i) + ".test");
    EXPECT_EQ(asker->lookup.v4().addresses.size(), i % 2 ? kAddresses : 1u) << i;
    EXPECT_EQ(asker->lookup.v6().addresses.size(), i % 2 ? kAddresses : 1u) << i;
  }
  EXPECT_GT(net::sys::injected_faults(), 0u);
}

TEST_P(FaultsTest, a_shortage_is_named_or_overcome) {
  const std::vector<std::optional<Errc>> kFine = {std::nullopt, Errc::out_of_descriptors,
                                                  Errc::out_of_memory, Errc::out_of_ports,
                                                  Errc::os_failure};
  net::sys::set_fault_plan({.seed = GetParam(),
                            .short_permille = 100,
                            .interrupt_permille = 100,
                            .shortage_permille = 400});
  for (int i = 0; i < 50; ++i) {
    const auto asker = resolve((i % 2 ? "long" : "short") + std::to_string(i) + ".test");
    for (const Lookup::Family* family : {&asker->lookup.v4(), &asker->lookup.v6()}) {
      EXPECT_TRUE(std::find(kFine.begin(), kFine.end(), family->error) != kFine.end())
          << i << ": " << name_of(family->error.value_or(Errc::ended));
      EXPECT_EQ(family->addresses.empty(), family->error.has_value()) << i;
    }
    EXPECT_LT(took(), kAtOnce) << i;
  }
  net::sys::set_fault_plan({});
  EXPECT_EQ(resolve("short.test")->lookup.v4().addresses.size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(seeds, FaultsTest, testing::Range<uint64_t>(1, 9));

}  // namespace
}  // namespace headrace::dns
