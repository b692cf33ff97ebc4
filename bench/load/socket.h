// Addresses and the few ways in which this program makes sockets. All are non-blocking.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fd.h"

namespace headrace::load {

struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;

  const sockaddr* raw() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* raw() { return reinterpret_cast<sockaddr*>(&storage); }
  bool is_ipv6() const { return storage.ss_family == AF_INET6; }
  std::string text() const;  // HOST:PORT, [v6]:PORT
};

// HOST:PORT with a numeric host, [v6]:PORT.
std::optional<Address> parse_address(std::string_view text);

// Local addresses A-B (or one), used in turn, with the port left to the system.
class SourceRange {
 public:
  static std::optional<SourceRange> parse(std::string_view text);
  const Address& next();

 private:
  std::vector<Address> addresses_;
  size_t next_ = 0;
};

// Begins to connect; an invalid descriptor where that fails at once, with errno telling why.
UniqueFd start_connect(const Address& to, const Address* from);
// The outcome of a connect that is no longer on its way: 0 or an errno.
int connect_outcome(int fd);

// Listens; `bound` becomes the real address. An invalid descriptor and errno when it fails.
UniqueFd listen_on(const Address& at, Address& bound);

// RLIMIT_NOFILE raised to its hard limit; the number of descriptors that may be open.
size_t raise_descriptor_limit();

}  // namespace headrace::load
