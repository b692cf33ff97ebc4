#include "config/option_values.h"

#include "base/target.h"
#include "base/text.h"

namespace headrace::config {
namespace {

constexpr std::string_view kAuto = "auto";
constexpr std::string_view kSystem = "system";
constexpr std::string_view kOff = "off";
constexpr std::string_view kNone = "none";

std::optional<Fault> set_count(uint32_t& kept, std::string_view text, uint32_t min, uint32_t max) {
  const Parsed<uint64_t> value = parse_count(text);
  if (!value) return value.fault();
  if (*value < min || *value > max)
    return Fault{in_quotes(text) + " is not from " + std::to_string(min) + " to " +
                 std::to_string(max)};
  kept = static_cast<uint32_t>(*value);
  return std::nullopt;
}

// "A, B" and so on, each part checked by itself so that a fault names it.
Parsed<std::string> parse_servers(std::string_view text) {
  std::string servers;
  for (;;) {
    const size_t comma = text.find(',');
    const std::string_view server = trimmed(text.substr(0, comma));
    if (!dns::parse_servers(server))
      return Fault{in_quotes(server) + " is no IP address, with or without a port"};
    if (!servers.empty()) servers += ", ";
    servers += server;
    if (comma == text.npos) return servers;
    text.remove_prefix(comma + 1);
  }
}

// "A, B" and so on, each part checked by itself so that a fault names it.
Parsed<std::vector<IpNetwork>> parse_networks(std::string_view text) {
  std::vector<IpNetwork> networks;
  for (;;) {
    const size_t comma = text.find(',');
    const std::string_view part = trimmed(text.substr(0, comma));
    const std::optional<IpNetwork> network = IpNetwork::parse(part);
    if (!network)
      return Fault{in_quotes(part) +
                   " is no network; write an address, or 192.0.2.0/24 with zeros behind its bits"};
    networks.push_back(*network);
    if (comma == text.npos) return networks;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace

Value duration(In<microseconds> in, microseconds min, microseconds max) {
  const std::string bounds = "from " + show_duration(min) + " to " + show_duration(max);
  auto set = [in, min, max, bounds](Place place, std::string_view text) -> std::optional<Fault> {
    const Parsed<microseconds> value = parse_duration(text);
    if (!value) return value.fault();
    if (*value < min || *value > max) return Fault{in_quotes(text) + " is not " + bounds};
    in(place) = *value;
    return std::nullopt;
  };
  auto show = [in](Place place) { return show_duration(in(place)); };
  return Value{"duration " + bounds, set, show};
}

Value count(In<uint32_t> in, uint32_t min, uint32_t max) {
  auto set = [in, min, max](Place place, std::string_view text) {
    return set_count(in(place), text, min, max);
  };
  auto show = [in](Place place) { return std::to_string(in(place)); };
  return Value{"number from " + std::to_string(min) + " to " + std::to_string(max), set, show};
}

Value count_or_auto(In<uint32_t> in, uint32_t max) {
  auto set = [in, max](Place place, std::string_view text) -> std::optional<Fault> {
    if (text != kAuto) return set_count(in(place), text, 1, max);
    in(place) = 0;
    return std::nullopt;
  };
  auto show = [in](Place place) {
    return in(place) == 0 ? std::string(kAuto) : std::to_string(in(place));
  };
  return Value{"auto, or number from 1 to " + std::to_string(max), set, show};
}

Value address_or_auto(In<std::optional<IpAddress>> in) {
  auto set = [in](Place place, std::string_view text) -> std::optional<Fault> {
    const std::optional<IpAddress> address = IpAddress::parse(text);
    if (!address && text != kAuto)
      return Fault{in_quotes(text) + " is neither an IP address nor auto"};
    in(place) = address;
    return std::nullopt;
  };
  auto show = [in](Place place) { return in(place) ? in(place)->to_string() : std::string(kAuto); };
  return Value{"auto, or IP address", set, show};
}

Value port(In<uint16_t> in) {
  auto set = [in](Place place, std::string_view text) -> std::optional<Fault> {
    const std::optional<uint16_t> value = parse_port(text);
    if (!value) return Fault{in_quotes(text) + " is no port: a number from 1 to 65535 is"};
    in(place) = *value;
    return std::nullopt;
  };
  auto show = [in](Place place) { return std::to_string(in(place)); };
  return Value{"port from 1 to 65535", set, show};
}

Value networks_or_off(In<std::vector<IpNetwork>> in) {
  auto set = [in](Place place, std::string_view text) -> std::optional<Fault> {
    const Parsed<std::vector<IpNetwork>> networks =
        text == kOff ? std::vector<IpNetwork>() : parse_networks(text);
    if (!networks) return networks.fault();
    in(place) = *networks;
    return std::nullopt;
  };
  auto show = [in](Place place) {
    std::string text;
    for (const IpNetwork& network : in(place))
      text += (text.empty() ? "" : ", ") + network.to_string();
    return text.empty() ? std::string(kOff) : text;
  };
  return Value{"off, or networks separated by commas", set, show};
}

Value servers_or_system(In<std::string> in) {
  auto set = [in](Place place, std::string_view text) -> std::optional<Fault> {
    const Parsed<std::string> servers = text == kSystem ? std::string() : parse_servers(text);
    if (!servers) return servers.fault();
    in(place) = *servers;
    return std::nullopt;
  };
  auto show = [in](Place place) { return in(place).empty() ? std::string(kSystem) : in(place); };
  return Value{"system, or IP addresses (with :PORT) separated by commas", set, show};
}

Value ports(In<access::PortSet> in) {
  auto set = [in](Place place, std::string_view text) -> std::optional<Fault> {
    std::string reason;
    const std::optional<access::PortSet> ports = access::PortSet::parse(text, reason);
    if (!ports) return Fault{reason};
    in(place) = *ports;
    return std::nullopt;
  };
  auto show = [in](Place place) { return in(place).to_string(); };
  return Value{"any, or ports and FIRST-LAST ranges separated by commas", set, show};
}

Value log_target(In<std::string> in) {
  auto set = [in](Place place, std::string_view text) -> std::optional<Fault> {
    if (text.empty()) return Fault{"is empty; write a file name, - or off"};
    in(place) = text;
    return std::nullopt;
  };
  auto show = [in](Place place) { return in(place); };
  return Value{"file name, - for standard output, or off", set, show};
}

Value files(In<std::vector<std::string>> in) {
  auto set = [in](Place place, std::string_view text) -> std::optional<Fault> {
    std::vector<std::string> names;
    std::string_view rest = text == kNone ? std::string_view() : text;
    while (!rest.empty()) {
      const size_t comma = std::min(rest.find(','), rest.size());
      names.emplace_back(trimmed(rest.substr(0, comma)));
      if (names.back().empty()) return Fault{in_quotes(text) + " has an empty file name"};
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
    in(place) = std::move(names);
    return std::nullopt;
  };
  auto show = [in](Place place) {
    std::string text;
    for (const std::string& name : in(place)) text += (text.empty() ? "" : ", ") + name;
    return text.empty() ? std::string(kNone) : text;
  };
  return Value{"none, or file names separated by commas", set, show};
}

Value text_or(In<std::string> in, std::string_view empty, std::string_view syntax) {
  auto set = [in, empty](Place place, std::string_view text) -> std::optional<Fault> {
    if (text.empty()) return Fault{"is empty; write " + std::string(empty) + " for none"};
    in(place) = text == empty ? std::string_view() : text;
    return std::nullopt;
  };
  auto show = [in, empty](Place place) {
    return in(place).empty() ? std::string(empty) : in(place);
  };
  return Value{std::string(empty) + ", or " + std::string(syntax), set, show};
}

Value file_or_none(In<std::string> in) {
  return text_or(in, kNone, "file name");
}

Value list_or_auto(In<std::string> in, std::string_view separator) {
  auto set = [in](Place place, std::string_view text) -> std::optional<Fault> {
    in(place) = text;
    return std::nullopt;
  };
  auto show = [in](Place place) { return in(place); };
  return Value{"auto, or names separated by " + std::string(separator), set, show};
}

}  // namespace headrace::config
