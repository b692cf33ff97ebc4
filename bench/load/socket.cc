#include "socket.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstring>

#include "units.h"

namespace headrace::load {
namespace {

// Since Linux 4.2; Debian's headers have it in <linux/in.h>, which clashes with <netinet/in.h>.
#ifndef IP_BIND_ADDRESS_NO_PORT
#define IP_BIND_ADDRESS_NO_PORT 24
#endif

constexpr size_t kSourceAddressesMax = 4096;

std::optional<Address> from_host(const std::string& host, uint16_t port) {
  Address address;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
  if (::inet_pton(AF_INET, host.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    address.length = sizeof(sockaddr_in);
    return address;
  }
  if (::inet_pton(AF_INET6, host.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    address.length = sizeof(sockaddr_in6);
    return address;
  }
  return std::nullopt;
}

// The next address; both families are big-endian numbers.
void increment(Address& address) {
  uint8_t* bytes;
  size_t length;
  if (address.is_ipv6()) {
    bytes = reinterpret_cast<sockaddr_in6*>(&address.storage)->sin6_addr.s6_addr;
    length = 16;
  } else {
    bytes = reinterpret_cast<uint8_t*>(&reinterpret_cast<sockaddr_in*>(&address.storage)->sin_addr);
    length = 4;
  }
  while (length > 0 && ++bytes[length - 1] == 0) --length;
}

bool same(const Address& a, const Address& b) {
  return a.length == b.length && std::memcmp(&a.storage, &b.storage, a.length) == 0;
}

void set_option(int fd, int level, int name) {
  const int on = 1;
  ::setsockopt(fd, level, name, &on, sizeof(on));
}

}  // namespace

std::string Address::text() const {
  char host[INET6_ADDRSTRLEN] = "?";
  if (is_ipv6()) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&storage);
    ::inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof(host));
    return "[" + std::string(host) + "]:" + std::to_string(ntohs(v6->sin6_port));
  }
  const auto* v4 = reinterpret_cast<const sockaddr_in*>(&storage);
  ::inet_ntop(AF_INET, &v4->sin_addr, host, sizeof(host));
  return std::string(host) + ":" + std::to_string(ntohs(v4->sin_port));
}

std::optional<Address> parse_address(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const std::optional<uint16_t> port = parse_number<uint16_t>(text.substr(colon + 1));
  if (!port) return std::nullopt;
  return from_host(std::string(host), *port);
}

std::optional<SourceRange> SourceRange::parse(std::string_view text) {
  const size_t dash = text.find('-');
  const std::string first(text.substr(0, dash));
  const std::string last(dash == std::string_view::npos ? first : text.substr(dash + 1));
  std::optional<Address> address = from_host(first, 0);
  const std::optional<Address> end = from_host(last, 0);
  if (!address || !end) return std::nullopt;
  SourceRange range;
  range.addresses_.push_back(*address);
  while (!same(*address, *end)) {
    if (range.addresses_.size() == kSourceAddressesMax) return std::nullopt;
    increment(*address);
    range.addresses_.push_back(*address);
  }
  return range;
}

const Address& SourceRange::next() {
  const Address& address = addresses_[next_];
  next_ = (next_ + 1) % addresses_.size();
  return address;
}

UniqueFd start_connect(const Address& to, const Address* from) {
  UniqueFd fd(::socket(to.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return fd;
  set_option(fd.get(), IPPROTO_TCP, TCP_NODELAY);
  if (from != nullptr) {
    // The port is chosen when the destination is known: it need be free for that alone.
    set_option(fd.get(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT);
    if (::bind(fd.get(), from->raw(), from->length) != 0) return UniqueFd();
  }
  if (::connect(fd.get(), to.raw(), to.length) != 0 && errno != EINPROGRESS) return UniqueFd();
  return fd;
}

int connect_outcome(int fd) {
  int outcome = 0;
  socklen_t length = sizeof(outcome);
  if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &outcome, &length) != 0) return errno;
  return outcome;
}

UniqueFd listen_on(const Address& at, Address& bound) {
  UniqueFd fd(::socket(at.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return fd;
  set_option(fd.get(), SOL_SOCKET, SO_REUSEADDR);
  set_option(fd.get(), IPPROTO_TCP, TCP_NODELAY);  // accepted sockets inherit it
  if (::bind(fd.get(), at.raw(), at.length) != 0) return UniqueFd();
  // The kernel cuts it to net.core.somaxconn.
  if (::listen(fd.get(), 65535) != 0) return UniqueFd();
  bound.length = sizeof(bound.storage);
  if (::getsockname(fd.get(), bound.raw(), &bound.length) != 0) return UniqueFd();
  return fd;
}

size_t raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  limit.rlim_cur = limit.rlim_max;
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) ::getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

}  // namespace headrace::load
