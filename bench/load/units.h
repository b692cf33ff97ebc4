// Numbers as people write them on the command line.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace headrace::load {

// The whole text as a number, or nothing.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// tc's words. `20mbit` is 20e6 bits per second; `mbps` means megabytes, `mibit` 2^20 bits.
std::optional<double> parse_rate_bits(std::string_view text);
// `5ms`, `100us`, `1s`; as in tc a bare number is microseconds.
std::optional<double> parse_time_seconds(std::string_view text);
// `0.5%`, as a share of one.
std::optional<double> parse_percent(std::string_view text);

}  // namespace headrace::load
