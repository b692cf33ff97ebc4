#include "tls/ticket_keys.h"

#include <gtest/gtest.h>

namespace headrace::tls {
namespace {

using namespace std::chrono_literals;

const TicketKeys::Time kStart{1000h};

TEST(ticket_keys, a_ticket_opens_for_as_long_as_it_is_good) {
  TicketKeys keys(kStart);
  const auto sealed_at = kStart + TicketKeys::kRotation - 1s;
  const TicketKeys::Key key = keys.current(sealed_at);
  EXPECT_TRUE(keys.find(key.name, sealed_at));
  const auto last = keys.find(key.name, sealed_at + TicketKeys::kTicketLifetime);
  ASSERT_TRUE(last);
  EXPECT_EQ(last->aes, key.aes);
  EXPECT_EQ(last->hmac, key.hmac);
}

TEST(ticket_keys, a_new_key_seals_after_the_rotation_and_the_old_one_goes_after_the_next) {
  TicketKeys keys(kStart);
  const TicketKeys::Key first = keys.current(kStart);
  const TicketKeys::Key second = keys.current(kStart + TicketKeys::kRotation);
  EXPECT_NE(first.name, second.name);
  EXPECT_NE(first.aes, second.aes);
  EXPECT_TRUE(keys.find(first.name, kStart + TicketKeys::kRotation));
  EXPECT_FALSE(keys.find(first.name, kStart + 2 * TicketKeys::kRotation));
}

TEST(ticket_keys, after_a_long_silence_even_the_last_key_is_too_old) {
  TicketKeys keys(kStart);
  const TicketKeys::Key first = keys.current(kStart);
  EXPECT_FALSE(keys.find(first.name, kStart + 3 * TicketKeys::kRotation));
}

TEST(ticket_keys, a_foreign_name_opens_nothing) {
  TicketKeys keys(kStart);
  TicketKeys others(kStart);
  EXPECT_FALSE(keys.find(others.current(kStart).name, kStart));
}

}  // namespace
}  // namespace headrace::tls
