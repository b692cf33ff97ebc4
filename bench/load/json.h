// Writes one flat JSON object, and objects within it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace headrace::load {

class JsonObject {
 public:
  void add(std::string_view name, std::string_view text);
  void add(std::string_view name, const char* text) { add(name, std::string_view(text)); }
  void add(std::string_view name, bool value) { add_raw(name, value ? "true" : "false"); }
  void add(std::string_view name, uint64_t value) { add_raw(name, std::to_string(value)); }
  void add(std::string_view name, double value);
  void add(std::string_view name, const JsonObject& value) { add_raw(name, value.text()); }
  // What does not apply to a run is null, which is not zero.
  template <class Value>
  void add(std::string_view name, const std::optional<Value>& value) {
    if (value) {
      add(name, *value);
    } else {
      add_raw(name, "null");
    }
  }

  std::string text() const { return "{" + members_ + "}"; }

 private:
  void add_raw(std::string_view name, std::string_view value);

  std::string members_;
};

}  // namespace headrace::load
