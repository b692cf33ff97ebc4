#include "app/host.h"

#include <ifaddrs.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/random.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>

#include "base/text.h"
#include "net/endpoint.h"

namespace headrace::app {
namespace {

std::string read_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The path of our control group in the hierarchy with that controller ("" for version 2).
std::string control_group(std::string_view controller) {
  std::ifstream file("/proc/self/cgroup");
  std::string line;
  while (std::getline(file, line)) {
    // ID:CONTROLLERS:PATH
    size_t first = line.find(':');
    size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    bool wanted = controller.empty()
                      ? controllers == ",,"
                      : controllers.find("," + std::string(controller) + ",") != std::string::npos;
    if (wanted) return line.substr(second + 1);
  }
  return "/";
}

std::optional<double> ratio(std::string_view quota, std::string_view period) {
  std::optional<int64_t> a = parse_number<int64_t>(quota);
  std::optional<int64_t> b = parse_number<int64_t>(period);
  if (!a || !b || *a <= 0 || *b <= 0) return std::nullopt;
  return static_cast<double>(*a) / static_cast<double>(*b);
}

std::optional<double> cpu_quota() {
  std::istringstream v2(read_line("/sys/fs/cgroup" + control_group("") + "/cpu.max"));
  std::string quota;
  std::string period;
  if (v2 >> quota >> period) return ratio(quota, period);
  std::string v1 = "/sys/fs/cgroup/cpu" + control_group("cpu");
  return ratio(read_line(v1 + "/cpu.cfs_quota_us"), read_line(v1 + "/cpu.cfs_period_us"));
}

}  // namespace

size_t usable_cpus() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  size_t cpus = 1;
  if (sched_getaffinity(0, sizeof(mask), &mask) == 0) cpus = static_cast<size_t>(CPU_COUNT(&mask));
  if (std::optional<double> quota = cpu_quota())
    cpus = std::min(cpus, static_cast<size_t>(std::max(1.0, *quota + 0.5)));
  return std::max<size_t>(cpus, 1);
}

uint64_t raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

std::vector<IpAddress> interface_addresses() {
  std::vector<IpAddress> addresses;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return addresses;
  for (ifaddrs* entry = list; entry; entry = entry->ifa_next) {
    if (!entry->ifa_addr) continue;
    int family = entry->ifa_addr->sa_family;
    size_t length = family == AF_INET    ? sizeof(sockaddr_in)
                    : family == AF_INET6 ? sizeof(sockaddr_in6)
                                         : 0;
    if (length == 0) continue;
    net::SocketName name;
    std::memcpy(name.get(), entry->ifa_addr, length);
    if (std::optional<net::Endpoint> endpoint = name.endpoint())
      addresses.push_back(endpoint->address);
  }
  freeifaddrs(list);
  return addresses;
}

std::string random_id() {
  uint8_t bytes[4] = {};
  [[maybe_unused]] ssize_t got = getrandom(bytes, sizeof(bytes), 0);
  std::string id;
  for (uint8_t byte : bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    id += kDigits[byte >> 4];
    id += kDigits[byte & 15];
  }
  return id;
}

}  // namespace headrace::app
