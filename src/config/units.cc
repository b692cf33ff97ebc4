#include "config/units.h"

#include <algorithm>
#include <optional>
#include <span>

#include "base/text.h"
#include "config/words.h"

namespace headrace::config {
namespace {

struct Unit {
  std::string_view name;
  uint64_t factor;
};

// A kind of quantity: its units from the smallest to the largest, and an example for the fault
// texts.
struct Quantity {
  std::span<const Unit> units;
  std::string_view example;
  uint64_t max;  // what the value's type holds
};

constexpr Unit kDurationUnits[] = {
    {"us", 1},           {"ms", 1'000},        {"s", 1'000'000},
    {"min", 60'000'000}, {"h", 3'600'000'000}, {"d", 86'400'000'000},
};
constexpr Unit kByteUnits[] = {
    {"B", 1},
    {"KiB", uint64_t{1} << 10},
    {"MiB", uint64_t{1} << 20},
    {"GiB", uint64_t{1} << 30},
    {"TiB", uint64_t{1} << 40},
};
constexpr Unit kRateUnits[] = {
    {"bit/s", 1},
    {"kbit/s", 1'000},
    {"Mbit/s", 1'000'000},
    {"Gbit/s", 1'000'000'000},
};

constexpr Quantity kDuration{kDurationUnits, "30s", INT64_MAX};
constexpr Quantity kBytes{kByteUnits, "64KiB", UINT64_MAX};
constexpr Quantity kRate{kRateUnits, "10Mbit/s", UINT64_MAX};

std::string names_of(std::span<const Unit> units) {
  std::string names;
  for (const Unit& unit : units) {
    if (!names.empty()) names += &unit == &units.back() ? " or " : ", ";
    names += unit.name;
  }
  return names;
}

Fault empty_fault(std::string_view example) {
  return Fault{"is empty; write a value such as " + std::string(example)};
}

Fault size_fault(std::string_view text) {
  return Fault{in_quotes(text) + " is too large"};
}

Parsed<uint64_t> parse_quantity(std::string_view text, const Quantity& quantity) {
  if (text.empty()) return empty_fault(quantity.example);
  const size_t number_length =
      static_cast<size_t>(std::find_if_not(text.begin(), text.end(), is_digit) - text.begin());
  const std::string_view number_text = text.substr(0, number_length);
  const std::string_view unit_name = text.substr(number_length);

  if (number_text.empty() || unit_name.starts_with('.') || unit_name.starts_with(','))
    return Fault{in_quotes(text) + " is not a whole number and a unit, such as " +
                 std::string(quantity.example)};
  if (unit_name.empty())
    return Fault{in_quotes(text) + " needs a unit: " + names_of(quantity.units)};
  const auto unit = std::find_if(quantity.units.begin(), quantity.units.end(),
                                 [&](const Unit& known) { return known.name == unit_name; });
  if (unit == quantity.units.end())
    return Fault{in_quotes(text) + " has the unknown unit " + in_quotes(unit_name) + "; write " +
                 names_of(quantity.units)};

  const std::optional<uint64_t> number = parse_number<uint64_t>(number_text);
  if (!number || *number > quantity.max / unit->factor) return size_fault(text);
  return *number * unit->factor;
}

// In the largest unit that leaves no rest.
std::string show_quantity(uint64_t value, const Quantity& quantity) {
  const Unit* best = &quantity.units.front();
  for (const Unit& unit : quantity.units)
    if (value >= unit.factor && value % unit.factor == 0) best = &unit;
  return std::to_string(value / best->factor) + std::string(best->name);
}

}  // namespace

Parsed<microseconds> parse_duration(std::string_view text) {
  const Parsed<uint64_t> count = parse_quantity(text, kDuration);
  if (!count) return count.fault();
  return microseconds(static_cast<int64_t>(*count));
}

Parsed<uint64_t> parse_bytes(std::string_view text) {
  return parse_quantity(text, kBytes);
}

Parsed<uint64_t> parse_rate(std::string_view text) {
  return parse_quantity(text, kRate);
}

Parsed<uint64_t> parse_count(std::string_view text) {
  if (text.empty()) return empty_fault("100");
  if (!std::all_of(text.begin(), text.end(), is_digit))
    return Fault{in_quotes(text) + " is not a whole number"};
  const std::optional<uint64_t> count = parse_number<uint64_t>(text);
  if (!count) return size_fault(text);
  return *count;
}

Parsed<bool> parse_bool(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  if (text.empty()) return empty_fault("true");
  return Fault{in_quotes(text) + " is neither true nor false"};
}

std::string show_duration(microseconds duration) {
  if (duration == microseconds(0)) return "0s";
  return show_quantity(static_cast<uint64_t>(duration.count()), kDuration);
}

std::string show_bytes(uint64_t bytes) {
  return show_quantity(bytes, kBytes);
}

std::string show_rate(uint64_t bits_per_second) {
  return show_quantity(bits_per_second, kRate);
}

}  // namespace headrace::config
