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

std::vector<uint8_t> numbered_bytes(size_t count) {
  std::vector<uint8_t> bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<uint8_t>(i);
  return bytes;
}

TEST(ticket_keys, of_given_ones_the_first_seals_and_all_open_for_good) {
  TicketKeys keys(TicketKeys::parse(numbered_bytes(2 * TicketKeys::kKeyBytes)));
  const TicketKeys::Key first = keys.current(kStart);
  EXPECT_EQ(first.name[0], 0);
  EXPECT_EQ(first.hmac[0], 16);
  EXPECT_EQ(first.aes[0], 48);
  TicketKeys::Key second;
  for (size_t i = 0; i < second.name.size(); ++i) second.name[i] = static_cast<uint8_t>(80 + i);
  for (const auto now : {kStart, kStart + 1000h}) {
    EXPECT_TRUE(keys.find(first.name, now));
    ASSERT_TRUE(keys.find(second.name, now));
    EXPECT_EQ(keys.find(second.name, now)->aes[31], 159);
  }
}

TEST(ticket_keys, given_ones_are_replaced_at_once) {
  TicketKeys keys(TicketKeys::parse(numbered_bytes(2 * TicketKeys::kKeyBytes)));
  const TicketKeys::Key first = keys.current();
  std::vector<uint8_t> others = numbered_bytes(TicketKeys::kKeyBytes);
  others[0] = 77;
  keys.replace(TicketKeys::parse(others));
  EXPECT_EQ(keys.current().name[0], 77);
  EXPECT_FALSE(keys.find(first.name));
}

TEST(ticket_keys, only_whole_ones_are_taken_and_not_too_many) {
  for (const size_t bytes : {0, 1, 79, 81, 48, 17 * 80})
    EXPECT_TRUE(TicketKeys::parse(numbered_bytes(bytes)).empty()) << bytes;
  EXPECT_EQ(TicketKeys::parse(numbered_bytes(16 * 80)).size(), 16u);
}

}  // namespace
}  // namespace headrace::tls
