#include "dns/lookup.h"

#include <gtest/gtest.h>

#include "resolver_fixture.h"

namespace headrace::dns {
namespace {

// Each row: what A and AAAA came to, and what is said of the name.
TEST_F(ResolverTest, a_failed_family_weighs_more_than_a_missing_one) {
  server.answer([](const auto& asked) {
    Message message(asked);
    const bool a = asked.type == kA;
    if (asked.name == (a ? "a-silent.test" : "aaaa-silent.test")) return std::vector<std::string>{};
    if (asked.name == (a ? "a-broken.test" : "aaaa-broken.test")) message.code(kServFail);
    return std::vector<std::string>{message.bytes()};
  });
  make_resolver(std::chrono::milliseconds(300));
  EXPECT_EQ(resolve("both-missing.test")->lookup.error(), Errc::name_unknown);
  EXPECT_EQ(resolve("a-broken.test")->lookup.error(), Errc::name_failed);
  EXPECT_EQ(resolve("aaaa-broken.test")->lookup.error(), Errc::name_failed);
  EXPECT_EQ(resolve("a-silent.test")->lookup.error(), Errc::name_timed_out);
  EXPECT_EQ(resolve("aaaa-silent.test")->lookup.error(), Errc::name_timed_out);
}

}  // namespace
}  // namespace headrace::dns
