#include "units.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string>

namespace headrace::load {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

// A number of zero or more and one of the units behind it.
template <size_t N>
std::optional<double> parse_with_unit(std::string_view text, const std::array<Unit, N>& units) {
  double value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc{} || !std::isfinite(value) || value < 0) return std::nullopt;
  std::string unit(end, text.data() + text.size());
  std::transform(unit.begin(), unit.end(), unit.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const Unit& known : units) {
    if (known.name == unit) return value * known.factor;
  }
  return std::nullopt;
}

constexpr std::array kRates = {
    Unit{"", 1},       Unit{"bit", 1},        Unit{"kbit", 1e3},     Unit{"mbit", 1e6},
    Unit{"gbit", 1e9}, Unit{"bps", 8},        Unit{"kbps", 8e3},     Unit{"mbps", 8e6},
    Unit{"gbps", 8e9}, Unit{"kibit", 0x1p10}, Unit{"mibit", 0x1p20}, Unit{"gibit", 0x1p30},
};
constexpr std::array kTimes = {
    Unit{"", 1e-6},   Unit{"us", 1e-6}, Unit{"usec", 1e-6}, Unit{"usecs", 1e-6},
    Unit{"ns", 1e-9}, Unit{"ms", 1e-3}, Unit{"msec", 1e-3}, Unit{"msecs", 1e-3},
    Unit{"s", 1},     Unit{"sec", 1},   Unit{"secs", 1},
};
constexpr std::array kShares = {Unit{"%", 0.01}};

}  // namespace

std::optional<double> parse_rate_bits(std::string_view text) {
  return parse_with_unit(text, kRates);
}

std::optional<double> parse_time_seconds(std::string_view text) {
  return parse_with_unit(text, kTimes);
}

std::optional<double> parse_percent(std::string_view text) {
  std::optional<double> share = parse_with_unit(text, kShares);
  if (share && *share > 1) return std::nullopt;
  return share;
}

}  // namespace headrace::load
