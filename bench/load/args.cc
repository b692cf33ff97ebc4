#include "args.h"

#include <algorithm>

namespace headrace::load {

std::optional<std::string_view> Args::take_word() {
  if (words_.empty() || words_.front().starts_with("--")) return std::nullopt;
  const std::string_view word = words_.front();
  words_.erase(words_.begin());
  return word;
}

std::vector<std::string_view> Args::take_all(std::string_view name) {
  const std::string option = "--" + std::string(name);
  const std::string with_value = option + "=";
  std::vector<std::string_view> values;
  for (auto word = words_.begin(); word != words_.end();) {
    if (word->starts_with(with_value)) {
      values.push_back(word->substr(with_value.size()));
      word = words_.erase(word);
    } else if (*word == option) {
      if (word + 1 == words_.end()) {
        fault(option + ": needs a value");
        word = words_.erase(word);
      } else {
        values.push_back(word[1]);
        word = words_.erase(word, word + 2);
      }
    } else {
      ++word;
    }
  }
  return values;
}

std::optional<std::string_view> Args::take(std::string_view name) {
  const std::vector<std::string_view> values = take_all(name);
  if (values.empty()) return std::nullopt;
  return values.back();
}

bool Args::take_flag(std::string_view name) {
  return std::erase(words_, "--" + std::string(name)) > 0;
}

void Args::fault(std::string text) {
  if (fault_.empty()) fault_ = std::move(text);
}

std::optional<std::string> Args::finish() {
  if (!words_.empty()) fault("not understood: " + std::string(words_.front()));
  if (fault_.empty()) return std::nullopt;
  return fault_;
}

}  // namespace headrace::load
