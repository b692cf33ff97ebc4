// An IP address with a port, as sockets name their ends; and where a listener listens.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ip.h"

namespace headrace::net {

struct Endpoint {
  IpAddress address;
  uint16_t port = 0;

  // "192.0.2.1:80", "[2001:db8::1]:80".
  std::string to_string() const;
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

// A sockaddr ready for system calls.
struct SocketName {
  sockaddr_storage storage{};
  socklen_t length = sizeof(storage);

  SocketName() = default;
  explicit SocketName(const Endpoint& endpoint);
  // A socket in the file system, or with a leading '@' an abstract one; at most 107 bytes.
  static SocketName unix_path(std::string_view path);

  int family() const { return storage.ss_family; }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  // A v4-mapped address as the IPv4 address that it is; nullopt for unix sockets.
  std::optional<Endpoint> endpoint() const;
};

std::optional<Endpoint> local_endpoint(int fd);

// "HOST:PORT", ":PORT" (all addresses, both families), "[v6]:PORT", "unix:/path", "unix:@abstract";
// HOST is an address or "localhost"; port 0 takes a free one.
struct ListenAddress {
  Endpoint endpoint;
  bool all_addresses = false;  // ":PORT"
  std::string unix_path;       // not empty: a unix socket

  static std::optional<ListenAddress> parse(std::string_view text);
  bool is_unix() const { return !unix_path.empty(); }
  bool is_loopback() const {
    return is_unix() || (!all_addresses && endpoint.address.is_loopback());
  }
  std::string to_string() const;
};

}  // namespace headrace::net
