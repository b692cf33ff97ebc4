// Opens listening sockets: one per worker for an address, or one shared for a unix socket.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "net/endpoint.h"

namespace headrace::app {

struct ListeningSockets {
  net::ListenAddress address;  // with the real port
  std::vector<UniqueFd> fds;   // one per worker

  ListeningSockets() = default;
  ListeningSockets(ListeningSockets&&) = default;
  ListeningSockets& operator=(ListeningSockets&&) = default;
  // A unix socket's file goes with it.
  ~ListeningSockets();
};

Result<ListeningSockets> open_listening(const net::ListenAddress& address, size_t workers);

}  // namespace headrace::app
