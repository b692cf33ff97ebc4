// A set of TCP or UDP ports as an operator writes it: "80, 443, 8000-8099", or "any".
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::access {

class PortSet {
 public:
  struct Range {
    uint16_t first;
    uint16_t last;  // inclusive
  };

  PortSet() = default;  // holds nothing
  PortSet(std::initializer_list<Range> ranges) : ranges_(ranges) {}
  static PortSet any() { return {{1, 65535}}; }

  // nullopt: `fault` says in words what is wrong, for the person who wrote the text.
  static std::optional<PortSet> parse(std::string_view text, std::string& fault);

  bool contains(uint16_t port) const;
  // A text that is parsed as the same set.
  std::string to_string() const;

 private:
  std::vector<Range> ranges_;  // as written: lists are short, and an overlap does no harm
};

}  // namespace headrace::access
