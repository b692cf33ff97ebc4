#include "relay/rest.h"

#include <gtest/gtest.h>

namespace headrace::relay {
namespace {

constexpr net::Duration kNone{0};
constexpr uint64_t kLarge = 256 * 1024;

void settle_in_bulk(Rest& rest) {
  for (int i = 0; i < Rest::kBulkTurns; ++i) rest.after_turn(2, kLarge);
}

TEST(RestTest, few_events_with_little_to_move_are_served_without_delay) {
  Rest rest;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(rest.after_turn(Rest::kCrowdEvents - 1, 7 * 1024), kNone);
}

TEST(RestTest, a_crowd_is_followed_by_a_short_rest) {
  Rest rest;
  EXPECT_EQ(rest.after_turn(Rest::kCrowdEvents, 0), Rest::kAfterCrowd);
  EXPECT_EQ(rest.after_turn(100, 100 * 1024), Rest::kAfterCrowd);
}

TEST(RestTest, bulk_rests_once_it_has_gone_on_for_some_turns) {
  Rest rest;
  for (int i = 1; i < Rest::kBulkTurns; ++i) EXPECT_EQ(rest.after_turn(2, kLarge), kNone);
  EXPECT_EQ(rest.after_turn(2, kLarge), Rest::kAfterBulk);
  EXPECT_EQ(rest.after_turn(2, kLarge), Rest::kAfterBulk);
}

TEST(RestTest, large_answers_asked_for_one_by_one_are_not_delayed) {
  Rest rest;
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(rest.after_turn(1, 200), kNone);  // the request
    EXPECT_EQ(rest.after_turn(1, kLarge), kNone);
  }
}

TEST(RestTest, one_small_turn_ends_bulk) {
  Rest rest;
  settle_in_bulk(rest);
  EXPECT_EQ(rest.after_turn(1, Rest::kBulkTurnBytes - 1), kNone);
  EXPECT_EQ(rest.after_turn(2, kLarge), kNone);
}

TEST(RestTest, a_turn_that_moves_nothing_does_not_rest_and_does_not_end_bulk) {
  Rest rest;
  settle_in_bulk(rest);
  EXPECT_EQ(rest.after_turn(2, 0), kNone);
  EXPECT_EQ(rest.after_turn(2, kLarge), Rest::kAfterBulk);
}

TEST(RestTest, bulk_among_many_small_exchanges_is_a_crowd) {
  Rest rest;
  settle_in_bulk(rest);
  EXPECT_EQ(rest.after_turn(33, kLarge), Rest::kAfterCrowd);
}

TEST(RestTest, many_streams_together_are_bulk) {
  Rest rest;
  for (int i = 1; i < Rest::kBulkTurns; ++i) rest.after_turn(32, 32 * Rest::kBulkEventBytes);
  EXPECT_EQ(rest.after_turn(32, 32 * Rest::kBulkEventBytes), Rest::kAfterBulk);
}

}  // namespace
}  // namespace headrace::relay
