#include "answer_head.h"

#include "units.h"

namespace headrace::load {

bool equals_ignoring_case(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i] >= 'A' && text[i] <= 'Z' ? static_cast<char>(text[i] + 32) : text[i];
    if (c != lower[i]) return false;
  }
  return true;
}

HeadState parse_answer_head(std::string_view bytes, AnswerHead& head) {
  const size_t end = bytes.find("\r\n\r\n");
  if (end == std::string_view::npos) {
    return bytes.size() < kHeadBytesMax ? HeadState::incomplete : HeadState::malformed;
  }
  const std::string_view text = bytes.substr(0, end + 2);
  // "HTTP/1.1 200": version 7th, status from the 9th on.
  if (!text.starts_with("HTTP/1.") || text.size() < 12) return HeadState::malformed;
  const std::optional<int> status = parse_number<int>(text.substr(9, 3));
  if (!status) return HeadState::malformed;
  head = {end + 4, *status, std::nullopt, text[7] != '0', false};
  bool well_formed = true;
  for_each_field(text, [&](std::string_view name, std::string_view value) {
    if (equals_ignoring_case(name, "content-length")) {
      head.content_length = parse_number<uint64_t>(value);
      well_formed = well_formed && head.content_length.has_value();
    } else if (equals_ignoring_case(name, "connection")) {
      if (equals_ignoring_case(value, "close")) head.keep_alive = false;
      if (equals_ignoring_case(value, "keep-alive")) head.keep_alive = true;
    } else if (equals_ignoring_case(name, "transfer-encoding")) {
      head.chunked = true;
    }
  });
  return well_formed ? HeadState::complete : HeadState::malformed;
}

}  // namespace headrace::load
