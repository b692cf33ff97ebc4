#include "net/endpoint.h"

#include <netinet/in.h>
#include <sys/un.h>

#include <cstddef>
#include <cstring>

#include "base/check.h"
#include "base/target.h"
#include "base/text.h"

namespace headrace::net {

std::string Endpoint::to_string() const {
  std::string text;
  if (!address.is_v4()) text += '[';
  text += address.to_string();
  if (!address.is_v4()) text += ']';
  text += ':';
  text += std::to_string(port);
  return text;
}

SocketName::SocketName(const Endpoint& endpoint) {
  if (endpoint.address.is_v4()) {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = htons(endpoint.port);
    std::memcpy(&name.sin_addr, endpoint.address.bytes(), 4);
    std::memcpy(&storage, &name, sizeof(name));
    length = sizeof(name);
  } else {
    sockaddr_in6 name{};
    name.sin6_family = AF_INET6;
    name.sin6_port = htons(endpoint.port);
    std::memcpy(&name.sin6_addr, endpoint.address.bytes(), 16);
    std::memcpy(&storage, &name, sizeof(name));
    length = sizeof(name);
  }
}

SocketName SocketName::unix_path(std::string_view path) {
  sockaddr_un address{};
  HEADRACE_ASSERT(path.size() < sizeof(address.sun_path));
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  bool abstract = path.starts_with('@');
  if (abstract) address.sun_path[0] = '\0';
  SocketName name;
  std::memcpy(&name.storage, &address, sizeof(address));
  name.length =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + (abstract ? 0 : 1));
  return name;
}

std::optional<Endpoint> SocketName::endpoint() const {
  if (family() == AF_INET) {
    sockaddr_in name;
    std::memcpy(&name, &storage, sizeof(name));
    return Endpoint{IpAddress::v4(reinterpret_cast<const uint8_t*>(&name.sin_addr)),
                    ntohs(name.sin_port)};
  }
  if (family() == AF_INET6) {
    sockaddr_in6 name;
    std::memcpy(&name, &storage, sizeof(name));
    IpAddress address = IpAddress::v6(reinterpret_cast<const uint8_t*>(&name.sin6_addr));
    return Endpoint{address.unmapped(), ntohs(name.sin6_port)};
  }
  return std::nullopt;
}

std::optional<Endpoint> local_endpoint(int fd) {
  SocketName name;
  if (getsockname(fd, name.get(), &name.length) != 0) return std::nullopt;
  return name.endpoint();
}

std::optional<ListenAddress> ListenAddress::parse(std::string_view text) {
  ListenAddress address;
  if (text.starts_with("unix:")) {
    address.unix_path = text.substr(5);
    constexpr size_t kPathBytesMax = sizeof(sockaddr_un{}.sun_path) - 1;
    if (address.unix_path.empty() || address.unix_path.size() > kPathBytesMax) return std::nullopt;
    return address;
  }
  size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::optional<uint16_t> port = parse_number<uint16_t>(text.substr(colon + 1));
  if (!port) return std::nullopt;
  address.endpoint.port = *port;
  std::string_view host = text.substr(0, colon);
  if (host.empty()) {
    address.all_addresses = true;
    return address;
  }
  if (host == "localhost") host = "127.0.0.1";
  bool bracketed = host.starts_with('[') && host.ends_with(']');
  if (bracketed) host = host.substr(1, host.size() - 2);
  std::optional<IpAddress> ip = IpAddress::parse(host);
  if (!ip || ip->is_v4() == bracketed) return std::nullopt;
  address.endpoint.address = *ip;
  return address;
}

std::string ListenAddress::to_string() const {
  if (is_unix()) return "unix:" + unix_path;
  if (all_addresses) return ":" + std::to_string(endpoint.port);
  return endpoint.to_string();
}

}  // namespace headrace::net
