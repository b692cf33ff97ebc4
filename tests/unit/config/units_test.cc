#include "config/units.h"

#include <gtest/gtest.h>

#include <string>

#include "config/words.h"

namespace headrace::config {
namespace {

using namespace std::chrono_literals;

template <class T>
std::string fault_of(const Parsed<T>& parsed) {
  return parsed ? "accepted" : parsed.fault().reason;
}

TEST(duration, every_unit_is_read) {
  EXPECT_EQ(*parse_duration("7us"), 7us);
  EXPECT_EQ(*parse_duration("250ms"), 250ms);
  EXPECT_EQ(*parse_duration("30s"), 30s);
  EXPECT_EQ(*parse_duration("5min"), 5min);
  EXPECT_EQ(*parse_duration("1h"), 1h);
  EXPECT_EQ(*parse_duration("2d"), 48h);
  EXPECT_EQ(*parse_duration("0s"), 0s);
  EXPECT_EQ(*parse_duration("007s"), 7s);
}

TEST(duration, what_is_no_duration_is_refused_with_what_to_write) {
  EXPECT_EQ(fault_of(parse_duration("")), "is empty; write a value such as 30s");
  EXPECT_EQ(fault_of(parse_duration("30")), "\"30\" needs a unit: us, ms, s, min, h or d");
  EXPECT_EQ(fault_of(parse_duration("5m")),
            "\"5m\" has the unknown unit \"m\"; write us, ms, s, min, h or d");
  EXPECT_EQ(fault_of(parse_duration("5 s")),
            "\"5 s\" has the unknown unit \" s\"; write us, ms, s, min, h or d");
  for (const std::string text : {"-5s", "+5s", "s", "1.5s", "1,5s", ".5s", " 5s", "never"})
    EXPECT_EQ(fault_of(parse_duration(text)),
              '"' + text + "\" is not a whole number and a unit, such as 30s");
}

TEST(duration, the_largest_is_read_and_one_more_is_too_large) {
  EXPECT_EQ(parse_duration("9223372036854775807us").operator*().count(), INT64_MAX);
  for (const std::string text :
       {"9223372036854775808us", "106751992d", "18446744073709551616s", "99999999999999999999999h"})
    EXPECT_EQ(fault_of(parse_duration(text)), '"' + text + "\" is too large");
  EXPECT_TRUE(parse_duration("106751991d"));
}

TEST(bytes, powers_of_1024) {
  EXPECT_EQ(*parse_bytes("0B"), 0u);
  EXPECT_EQ(*parse_bytes("512B"), 512u);
  EXPECT_EQ(*parse_bytes("64KiB"), 65536u);
  EXPECT_EQ(*parse_bytes("3MiB"), 3u << 20);
  EXPECT_EQ(*parse_bytes("2GiB"), uint64_t{2} << 30);
  EXPECT_EQ(*parse_bytes("16777215TiB"), uint64_t{16777215} << 40);
  EXPECT_EQ(fault_of(parse_bytes("16777216TiB")), "\"16777216TiB\" is too large");
}

TEST(bytes, ambiguous_units_are_refused) {
  for (const std::string unit : {"KB", "kB", "K", "k", "kib", "MB", "Mib"})
    EXPECT_EQ(fault_of(parse_bytes("64" + unit)), "\"64" + unit + "\" has the unknown unit \"" +
                                                      unit + "\"; write B, KiB, MiB, GiB or TiB");
  EXPECT_EQ(fault_of(parse_bytes("64")), "\"64\" needs a unit: B, KiB, MiB, GiB or TiB");
}

TEST(rate, powers_of_1000_in_bits) {
  EXPECT_EQ(*parse_rate("9bit/s"), 9u);
  EXPECT_EQ(*parse_rate("64kbit/s"), 64'000u);
  EXPECT_EQ(*parse_rate("10Mbit/s"), 10'000'000u);
  EXPECT_EQ(*parse_rate("1Gbit/s"), 1'000'000'000u);
  EXPECT_EQ(fault_of(parse_rate("10MB/s")),
            "\"10MB/s\" has the unknown unit \"MB/s\"; write bit/s, kbit/s, Mbit/s or Gbit/s");
}

TEST(count, digits_and_nothing_else) {
  EXPECT_EQ(*parse_count("0"), 0u);
  EXPECT_EQ(*parse_count("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(fault_of(parse_count("18446744073709551616")), "\"18446744073709551616\" is too large");
  EXPECT_EQ(fault_of(parse_count("")), "is empty; write a value such as 100");
  for (const std::string text : {"-1", "+1", "1 ", "0x10", "1e3", "1.0", "ten"})
    EXPECT_EQ(fault_of(parse_count(text)), '"' + text + "\" is not a whole number");
}

TEST(boolean, true_and_false_as_in_toml) {
  EXPECT_TRUE(*parse_bool("true"));
  EXPECT_FALSE(*parse_bool("false"));
  EXPECT_EQ(fault_of(parse_bool("")), "is empty; write a value such as true");
  for (const std::string text : {"yes", "on", "1", "True", "TRUE", "true "})
    EXPECT_EQ(fault_of(parse_bool(text)), '"' + text + "\" is neither true nor false");
}

TEST(show, what_is_shown_is_read_as_the_same_value) {
  for (const char* text : {"1us", "1500us", "250ms", "90s", "1min", "1h", "36h", "30d", "0s"})
    EXPECT_EQ(show_duration(*parse_duration(text)), text);
  for (const char* text : {"0B", "1B", "1023B", "64KiB", "1025KiB", "1MiB", "1TiB"})
    EXPECT_EQ(show_bytes(*parse_bytes(text)), text);
  for (const char* text : {"0bit/s", "1bit/s", "1500bit/s", "64kbit/s", "10Mbit/s", "1Gbit/s"})
    EXPECT_EQ(show_rate(*parse_rate(text)), text);
  EXPECT_EQ(show_duration(60s), "1min");
  EXPECT_EQ(show_duration(24h), "1d");
}

TEST(in_quotes, b167_nothing_reaches_the_terminal_raw) {
  EXPECT_EQ(in_quotes("plain text"), "\"plain text\"");
  EXPECT_EQ(in_quotes("a\"b\\c"), "\"a\\\"b\\\\c\"");
  EXPECT_EQ(in_quotes("\x1b[2J\n\x7f\xff"), "\"\\x1b[2J\\x0a\\x7f\\xff\"");
}

}  // namespace
}  // namespace headrace::config
