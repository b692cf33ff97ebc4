#include "config/nearest_name.h"

#include <gtest/gtest.h>

#include <string>

namespace headrace::config {
namespace {

constexpr std::string_view kNames[] = {"idle_timeout", "connect_timeout", "splice", "source"};

TEST(nearest_name, each_kind_of_slip_is_seen_through) {
  EXPECT_EQ(nearest_name("idle_timout", kNames), "idle_timeout");    // missing
  EXPECT_EQ(nearest_name("idle__timeout", kNames), "idle_timeout");  // added
  EXPECT_EQ(nearest_name("idle-timeout", kNames), "idle_timeout");   // exchanged
  EXPECT_EQ(nearest_name("idle_tiemout", kNames), "idle_timeout");   // swapped
  EXPECT_EQ(nearest_name("conect_timeuot", kNames), "connect_timeout");
  EXPECT_EQ(nearest_name("Splice", kNames), "splice");
  EXPECT_EQ(nearest_name("surce", kNames), "source");
}

TEST(nearest_name, the_nearest_of_several_wins) {
  constexpr std::string_view kAlike[] = {"timeout_a", "timeout_bc", "timeout_b"};
  EXPECT_EQ(nearest_name("timeout_b", kAlike), "timeout_b");
  EXPECT_EQ(nearest_name("timeout_bcd", kAlike), "timeout_bc");
}

TEST(nearest_name, what_resembles_nothing_gets_no_suggestion) {
  EXPECT_EQ(nearest_name("zzz", kNames), "");
  EXPECT_EQ(nearest_name("", kNames), "");
  EXPECT_EQ(nearest_name(std::string(1'000'000, 'a'), kNames), "");
}

}  // namespace
}  // namespace headrace::config
