#include "link_options.h"

#include <cstdio>
#include <limits>
#include <string>

namespace headrace::link {
namespace {

constexpr int kMtuLeast = 68;  // RFC 791
constexpr int kMtuMost = 65535;

void take_end(load::Args& args, std::string_view name, EndOptions& end) {
  const std::string option = "--" + std::string(name);
  const std::optional<std::string_view> text = args.take(name);
  if (!text) return args.fault(option + " is missing");
  if (const std::optional<EndOptions> parsed = parse_end(*text)) {
    end = *parsed;
  } else {
    args.fault(option + ": not NETNS:NAME:ADDRESS/LENGTH: " + std::string(*text));
  }
}

void take_words(load::Args& args, std::string_view name, LinkWords& words) {
  const std::optional<std::string_view> text = args.take(name);
  if (!text) return;
  std::string why;
  if (const std::optional<LinkWords> parsed = parse_link_words(*text, why)) {
    words = *parsed;
  } else {
    args.fault("--" + std::string(name) + ": " + why);
  }
}

void take_flows(load::Args& args, FlowLimits& flows) {
  if (const auto text = args.take("flow-rate")) {
    const std::optional<double> bits = load::parse_rate_bits(*text);
    flows.rate_bits = bits.value_or(0);
    if (flows.rate_bits <= 0) args.fault("--flow-rate: not a rate: " + std::string(*text));
  }
  args.take_number<uint32_t>("flow-limit", flows.limit_packets, 1,
                             std::numeric_limits<uint32_t>::max());
}

}  // namespace

std::optional<LinkOptions> read_link_options(load::Args args) {
  LinkOptions options;
  take_end(args, "a", options.a);
  take_end(args, "b", options.b);
  take_words(args, "link", options.a_to_b);
  options.b_to_a = options.a_to_b;
  take_words(args, "a-to-b", options.a_to_b);
  take_words(args, "b-to-a", options.b_to_a);
  take_flows(args, options.flows);
  args.take_number("mtu", options.mtu_bytes, kMtuLeast, kMtuMost);
  args.take_number<uint64_t>("seed", options.seed, 0, std::numeric_limits<uint64_t>::max());
  if (const std::optional<std::string> fault = args.finish()) {
    std::fprintf(stderr, "headrace-link: %s\n", fault->c_str());
    return std::nullopt;
  }
  return options;
}

}  // namespace headrace::link
