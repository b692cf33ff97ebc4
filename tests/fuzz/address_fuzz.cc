// Hosts, targets, addresses, networks and port lists from any text; and the spellings of an IPv4
// address compared with the C library's own reading, inet_aton(3).
#include <arpa/inet.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <string>

#include "access/port_set.h"
#include "base/bytes.h"
#include "base/check.h"
#include "base/ip.h"
#include "base/target.h"

namespace {

using namespace headrace;

bool is_blank(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}

void compare_with_inet_aton(const std::string& text) {
  const std::optional<IpAddress> ours = IpAddress::parse_any_spelling(text);
  // It takes text up to a zero byte, and ignores what stands behind a blank; we take neither.
  if (text.find('\0') != text.npos || std::any_of(text.begin(), text.end(), is_blank)) {
    HEADRACE_ASSERT(!ours);
    return;
  }
  in_addr theirs{};
  const bool they_take_it = inet_aton(text.c_str(), &theirs) != 0;
  HEADRACE_ASSERT(they_take_it == (ours && ours->is_v4()));
  if (they_take_it) HEADRACE_ASSERT(*ours == IpAddress::v4(ntohl(theirs.s_addr)));
}

void check_address(const std::string& text) {
  const std::optional<IpAddress> address = IpAddress::parse(text);
  if (!address) return;
  HEADRACE_ASSERT(IpAddress::parse(address->to_string()) == address);
  HEADRACE_ASSERT(IpAddress::parse_any_spelling(text) == address);
  HEADRACE_ASSERT(address->unwrapped().unwrapped() == address->unwrapped());
}

void check_host(const std::string& text) {
  const std::optional<Host> host = Host::parse(text);
  if (!host) return;
  // Written and read again it is the same, also in capitals and with a dot behind a name.
  HEADRACE_ASSERT(Host::parse(host->to_string()) == host);
  std::string capitals = host->to_string();
  std::transform(capitals.begin(), capitals.end(), capitals.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  HEADRACE_ASSERT(Host::parse(capitals) == host);
  if (!host->is_name()) return;
  HEADRACE_ASSERT(host->name().size() <= 253);
  HEADRACE_ASSERT(Host::parse(host->name() + '.') == host);
  // No name is an address to anybody who would resolve it.
  in_addr ignored{};
  HEADRACE_ASSERT(inet_aton(host->name().c_str(), &ignored) == 0);
}

void check_network(const std::string& text) {
  const std::optional<IpNetwork> network = IpNetwork::parse(text);
  if (!network) return;
  const std::string written = network->to_string();
  const std::optional<IpNetwork> again = IpNetwork::parse(written);
  HEADRACE_ASSERT(again && again->to_string() == written);
  const std::optional<IpAddress> first = IpAddress::parse(written.substr(0, written.find('/')));
  HEADRACE_ASSERT(first && network->contains(*first));
}

void check_target(const std::string& text) {
  const std::optional<Target> target = Target::parse(text);
  if (target) HEADRACE_ASSERT(target->port != 0 && Target::parse(target->to_string()) == target);
}

void check_ports(const std::string& text) {
  std::string fault;
  const std::optional<access::PortSet> ports = access::PortSet::parse(text, fault);
  HEADRACE_ASSERT(ports.has_value() == fault.empty());
  if (ports) HEADRACE_ASSERT(!ports->contains(0));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(as_text({data, size}));
  compare_with_inet_aton(text);
  check_address(text);
  check_host(text);
  check_network(text);
  check_target(text);
  check_ports(text);
  return 0;
}
