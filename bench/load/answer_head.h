// What a load client must know of an HTTP/1 answer's head. Lenient on purpose where it costs
// nothing: strictness is the business of the proxy's own tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace headrace::load {

struct AnswerHead {
  size_t head_bytes;  // up to and with the empty line
  int status;
  std::optional<uint64_t> content_length;
  bool keep_alive;
  bool chunked;
};

enum class HeadState : uint8_t { incomplete, malformed, complete };

// Longest head that is waited for.
inline constexpr size_t kHeadBytesMax = 16 * 1024;

HeadState parse_answer_head(std::string_view bytes, AnswerHead& head);

// Calls `field(name, value)` for each field line of a head, start line excluded.
template <class Field>
void for_each_field(std::string_view head, Field field) {
  size_t at = head.find('\n');
  while (at != std::string_view::npos) {
    const size_t begin = at + 1;
    at = head.find('\n', begin);
    const std::string_view line =
        head.substr(begin, at == std::string_view::npos ? at : at - begin);
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    std::string_view value = line.substr(colon + 1);
    while (!value.empty() && (value.front() == ' ' || value.front() == '\t'))
      value.remove_prefix(1);
    while (!value.empty() && (value.back() == '\r' || value.back() == ' ')) value.remove_suffix(1);
    field(line.substr(0, colon), value);
  }
}

// ASCII, `lower` in lower case.
bool equals_ignoring_case(std::string_view text, std::string_view lower);

}  // namespace headrace::load
