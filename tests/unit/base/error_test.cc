#include "base/error.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <set>
#include <string>

#include "base/parse.h"
#include "base/result.h"

namespace headrace {
namespace {

TEST(errc, every_reason_has_a_name_and_words_of_its_own) {
  std::set<std::string_view> names;
  std::set<std::string_view> words;
  for (size_t i = 0; i < kErrcCount; ++i) {
    const Errc what = static_cast<Errc>(i);
    EXPECT_FALSE(name_of(what).empty());
    EXPECT_TRUE(names.insert(name_of(what)).second) << name_of(what);
    EXPECT_TRUE(words.insert(describe(what)).second) << describe(what);
  }
  EXPECT_EQ(name_of(Errc::ended), "ended");
  EXPECT_EQ(name_of(Errc::name_unknown), "name_unknown");
  EXPECT_EQ(name_of(Errc::os_failure), "os_failure");
}

TEST(errc, b120_errno_keeps_what_it_told) {
  EXPECT_EQ(errc_of_errno(ECONNREFUSED), Errc::connect_refused);
  EXPECT_EQ(errc_of_errno(ETIMEDOUT), Errc::connect_timed_out);
  EXPECT_EQ(errc_of_errno(EHOSTUNREACH), Errc::host_unreachable);
  EXPECT_EQ(errc_of_errno(ENETUNREACH), Errc::network_unreachable);
  EXPECT_EQ(errc_of_errno(ECONNRESET), Errc::reset);
  EXPECT_EQ(errc_of_errno(EPIPE), Errc::reset);
  EXPECT_EQ(errc_of_errno(EAFNOSUPPORT), Errc::family_unsupported);
}

TEST(errc, b152_our_own_shortages_are_never_the_upstreams_fault) {
  EXPECT_EQ(errc_of_errno(EMFILE), Errc::out_of_descriptors);
  EXPECT_EQ(errc_of_errno(ENFILE), Errc::out_of_descriptors);
  EXPECT_EQ(errc_of_errno(EADDRNOTAVAIL), Errc::out_of_ports);
  EXPECT_EQ(errc_of_errno(ENOBUFS), Errc::out_of_memory);
  EXPECT_EQ(errc_of_errno(EBADF), Errc::os_failure);
}

TEST(side, sides_have_names) {
  EXPECT_EQ(name_of(Side::local), "local");
  EXPECT_EQ(name_of(Side::client), "client");
  EXPECT_EQ(name_of(Side::upstream), "upstream");
}

TEST(result, holds_a_value_or_an_error) {
  const Result<int> good = 7;
  ASSERT_TRUE(good);
  EXPECT_EQ(*good, 7);
  const Result<int> bad = Error{Errc::reset, Side::client, ECONNRESET};
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error(), (Error{Errc::reset, Side::client, ECONNRESET}));
}

TEST(result, gives_up_a_value_that_cannot_be_copied) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(7);
  EXPECT_EQ(**result, 7);
  const std::unique_ptr<int> taken = *std::move(result);
  EXPECT_EQ(*taken, 7);
  EXPECT_TRUE(Result<Done>(Done{}));
}

TEST(result_death, asking_for_what_is_not_there_ends_the_process) {
  const Result<int> bad = Error{Errc::reset, Side::client};
  EXPECT_DEATH(static_cast<void>(bad.value()), "assertion failed");
  const Result<int> good = 7;
  EXPECT_DEATH(static_cast<void>(good.error()), "assertion failed");
}

TEST(parse, is_a_value_an_error_or_a_wish_for_more) {
  const auto done = Parse<std::string>::done("abc", 3);
  ASSERT_TRUE(done);
  EXPECT_EQ(*done, "abc");
  EXPECT_EQ(done.consumed_bytes(), 3u);
  EXPECT_FALSE(done.needs_more());
  EXPECT_FALSE(done.failed());

  const auto more = Parse<std::string>::need_more();
  EXPECT_TRUE(more.needs_more());
  EXPECT_FALSE(more);
  EXPECT_FALSE(more.failed());

  const auto bad = Parse<std::string>::fail(Errc::malformed);
  EXPECT_TRUE(bad.failed());
  EXPECT_FALSE(bad);
  EXPECT_FALSE(bad.needs_more());
  EXPECT_EQ(bad.error(), Errc::malformed);
}

}  // namespace
}  // namespace headrace
