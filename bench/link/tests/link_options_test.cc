#include "link_options.h"

#include <gtest/gtest.h>

namespace headrace::link {
namespace {

TEST(LinkWords, are_netems_in_any_order) {
  std::string why;
  const auto words = parse_link_words(" loss 0.5%  rate 100mbit delay 5ms limit 77", why);
  ASSERT_TRUE(words) << why;
  EXPECT_EQ(words->delay_ns, 5'000'000);
  EXPECT_DOUBLE_EQ(words->loss_share, 0.005);
  EXPECT_EQ(words->rate_bits, 100e6);
  EXPECT_EQ(words->limit_packets, 77u);
}

TEST(LinkWords, none_is_a_wire_that_does_nothing_but_queue_a_thousand) {
  std::string why;
  const auto words = parse_link_words("", why);
  ASSERT_TRUE(words);
  EXPECT_EQ(words->delay_ns, 0);
  EXPECT_EQ(words->loss_share, 0);
  EXPECT_EQ(words->rate_bits, 0);
  EXPECT_EQ(words->limit_packets, 1000u);
}

TEST(LinkWords, what_cannot_be_kept_is_refused_with_the_reason) {
  const std::pair<const char*, const char*> kBad[] = {
      {"jitter 1ms", "not one of delay, loss, rate, limit: jitter"},
      {"delay 5ms 1ms", "not one of delay, loss, rate, limit: 1ms"},
      {"delay", "no delay that can be kept: "},
      {"delay 5m", "no delay that can be kept: 5m"},
      {"delay 1h", "no delay that can be kept: 1h"},
      {"loss 0.5", "no loss that can be kept: 0.5"},
      {"loss 200%", "no loss that can be kept: 200%"},
      {"rate 0mbit", "no rate that can be kept: 0mbit"},
      {"limit 0", "no limit that can be kept: 0"},
      {"limit 1.5", "no limit that can be kept: 1.5"},
      {"delay 1ms delay 2ms", "given twice: delay"},
  };
  for (const auto& [text, reason] : kBad) {
    std::string why;
    EXPECT_FALSE(parse_link_words(text, why)) << text;
    EXPECT_EQ(why, reason);
  }
}

TEST(EndOptions, name_namespace_device_and_address) {
  const auto end = parse_end("left:link0:10.9.0.1/24");
  ASSERT_TRUE(end);
  EXPECT_EQ(end->netns, "left");
  EXPECT_EQ(end->name, "link0");
  EXPECT_EQ(end->address, "10.9.0.1");
  EXPECT_EQ(end->prefix_bits, 24);
  EXPECT_TRUE(parse_end(":link0:10.9.0.1/32"));
  for (const char* bad : {"", "link0", "a:b", "a:b:10.0.0.1", "a::10.0.0.1/24", "a:b:10.0.0.1/33",
                          "a:b:host/24", "../x:b:10.0.0.1/24", "a:sixteencharacters:10.0.0.1/24"}) {
    EXPECT_FALSE(parse_end(bad)) << bad;
  }
}

TEST(LinkOptions, one_direction_can_be_another_than_both) {
  const char* words[] = {"--a",         "l:t0:10.0.0.1/24",
                         "--b",         "r:t0:10.0.0.2/24",
                         "--link",      "delay 5ms",
                         "--b-to-a",    "delay 9ms loss 1%",
                         "--seed",      "3",
                         "--flow-rate", "20mbit"};
  const auto options = read_link_options(load::Args(words));
  ASSERT_TRUE(options);
  EXPECT_EQ(options->a_to_b.delay_ns, 5'000'000);
  EXPECT_EQ(options->b_to_a.delay_ns, 9'000'000);
  EXPECT_EQ(options->flows.rate_bits, 20e6);
  EXPECT_EQ(options->seed, 3u);
}

}  // namespace
}  // namespace headrace::link
