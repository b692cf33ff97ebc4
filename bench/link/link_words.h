// What a direction of the link does to packets, in netem's words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace headrace::link {

struct LinkWords {
  int64_t delay_ns = 0;
  double loss_share = 0;
  double rate_bits = 0;  // per second; 0: none
  uint32_t limit_packets = 1000;
};

// `delay 5ms loss 0.5% rate 100mbit limit 1000`, any of them in any order, each at most once.
// Nothing, and the reason in `why`, where the words are others.
std::optional<LinkWords> parse_link_words(std::string_view text, std::string& why);

}  // namespace headrace::link
