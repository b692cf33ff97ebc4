#include "link_words.h"

#include <cmath>
#include <set>

#include "clock.h"
#include "units.h"

namespace headrace::link {
namespace {

constexpr double kDelaySecondsMax = 60;
constexpr uint32_t kLimitMax = 10'000'000;

// The next word; empty at the end.
std::string_view take_word(std::string_view& text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) {
    text = {};
    return {};
  }
  text.remove_prefix(begin);
  const std::string_view word = text.substr(0, text.find_first_of(" \t"));
  text.remove_prefix(word.size());
  return word;
}

bool set_word(LinkWords& words, std::string_view name, std::string_view value) {
  if (name == "delay") {
    const std::optional<double> seconds = load::parse_time_seconds(value);
    if (!seconds || *seconds > kDelaySecondsMax) return false;
    words.delay_ns = load::to_ns(*seconds);
    return true;
  }
  if (name == "loss") {
    const std::optional<double> share = load::parse_percent(value);
    words.loss_share = share.value_or(0);
    return share.has_value();
  }
  if (name == "rate") {
    const std::optional<double> bits = load::parse_rate_bits(value);
    words.rate_bits = bits.value_or(0);
    return words.rate_bits > 0;
  }
  const std::optional<uint32_t> packets = load::parse_number<uint32_t>(value);
  words.limit_packets = packets.value_or(0);
  return words.limit_packets > 0 && words.limit_packets <= kLimitMax;
}

}  // namespace

std::optional<LinkWords> parse_link_words(std::string_view text, std::string& why) {
  static const std::set<std::string_view> kKnown = {"delay", "loss", "rate", "limit"};
  LinkWords words;
  std::set<std::string_view> seen;
  while (true) {
    const std::string_view name = take_word(text);
    if (name.empty()) return words;
    if (!kKnown.contains(name)) {
      why = "not one of delay, loss, rate, limit: " + std::string(name);
      return std::nullopt;
    }
    const std::string_view value = take_word(text);
    if (!seen.insert(name).second) {
      why = "given twice: " + std::string(name);
      return std::nullopt;
    }
    if (!set_word(words, name, value)) {
      why = "no " + std::string(name) + " that can be kept: " + std::string(value);
      return std::nullopt;
    }
  }
}

}  // namespace headrace::link
