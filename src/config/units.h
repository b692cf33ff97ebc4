// The texts of values with a unit, and back: "30s", "64KiB", "10Mbit/s". Pure. A value is a whole
// number directly followed by its unit; nothing is rounded or guessed, and what is refused is
// refused with a reason that says what to write instead.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "config/parsed.h"

namespace headrace::config {

using std::chrono::microseconds;

// us, ms, s, min, h, d.
Parsed<microseconds> parse_duration(std::string_view text);
// B, KiB, MiB, GiB, TiB. Powers of 1024 only: "64KB" would be read as two different numbers.
Parsed<uint64_t> parse_bytes(std::string_view text);
// bit/s, kbit/s, Mbit/s, Gbit/s, in powers of 1000 as links are sold; gives bits per second.
Parsed<uint64_t> parse_rate(std::string_view text);
// Digits and nothing else.
Parsed<uint64_t> parse_count(std::string_view text);
// "true" or "false", as in TOML.
Parsed<bool> parse_bool(std::string_view text);

// The shortest text that is read as the same value: "90s", "1h", "64KiB".
std::string show_duration(microseconds duration);
std::string show_bytes(uint64_t bytes);
std::string show_rate(uint64_t bits_per_second);

}  // namespace headrace::config
