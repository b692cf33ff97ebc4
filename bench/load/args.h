// Options of the form `--name value` or `--name=value`. Each option is taken by the code that
// understands it; what is left over in the end was not understood by anybody and is an error.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "units.h"

namespace headrace::load {

class Args {
 public:
  explicit Args(std::span<const char* const> words) : words_(words.begin(), words.end()) {}

  // The next word that is no option, where there is one at the front.
  std::optional<std::string_view> take_word();
  // The value of an option; where it is given more than once the last counts.
  std::optional<std::string_view> take(std::string_view name);
  std::vector<std::string_view> take_all(std::string_view name);
  bool take_flag(std::string_view name);

  // Fills `value` where the option is given; a value outside of [least, most] is an error.
  template <class Number>
  void take_number(std::string_view name, Number& value, Number least, Number most) {
    const std::optional<std::string_view> text = take(name);
    if (!text) return;
    const std::optional<Number> number = parse_number<Number>(*text);
    if (number && *number >= least && *number <= most) {
      value = *number;
    } else {
      fault("--" + std::string(name) + ": not a number from " + std::to_string(least) + " to " +
            std::to_string(most) + ": " + std::string(*text));
    }
  }

  // Fills `value` with the enumerator whose name is given.
  template <class Enum>
  void take_choice(std::string_view name, Enum& value,
                   std::initializer_list<std::pair<std::string_view, Enum>> choices) {
    const std::optional<std::string_view> text = take(name);
    if (!text) return;
    std::string known;
    for (const auto& [word, meaning] : choices) {
      if (word == *text) {
        value = meaning;
        return;
      }
      known += (known.empty() ? "" : "|") + std::string(word);
    }
    fault("--" + std::string(name) + ": not one of " + known + ": " + std::string(*text));
  }

  // Remembers a fault found in a value; the first one is told.
  void fault(std::string text);

  // The first fault, words that nobody took included; nothing when all is well.
  std::optional<std::string> finish();

 private:
  std::vector<std::string_view> words_;
  std::string fault_;
};

}  // namespace headrace::load
