// Opens listening sockets: one per worker for an address, or one shared for a unix socket.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "net/endpoint.h"

namespace headrace::app {

// Which file of which file system.
struct FileIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;  // none has number 0

  bool operator==(const FileIdentity&) const = default;
};

struct ListeningSockets {
  net::ListenAddress address;  // with the real port
  std::vector<UniqueFd> fds;   // one per worker
  FileIdentity file;           // of a unix socket with a path

  ListeningSockets() = default;
  ListeningSockets(ListeningSockets&&) = default;
  ListeningSockets& operator=(ListeningSockets&&) = default;
  // A unix socket's file goes with it, unless another has taken its path meanwhile.
  ~ListeningSockets();
};

Result<ListeningSockets> open_listening(const net::ListenAddress& address, size_t workers);

}  // namespace headrace::app
