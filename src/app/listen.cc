#include "app/listen.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace headrace::app {
namespace {

// The kernel's own limit (net.core.somaxconn) cuts it.
constexpr int kBacklog = 65535;

Error os_error() {
  return Error{errc_of_errno(errno), Side::local, errno};
}

bool set_option(int fd, int level, int option, int value) {
  return setsockopt(fd, level, option, &value, sizeof(value)) == 0;
}

enum class Sharing : uint8_t { alone, one_of_several };

Result<UniqueFd> bind_tcp(const net::SocketName& name, bool both_families, Sharing sharing) {
  UniqueFd fd(socket(name.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return os_error();
  set_option(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (sharing == Sharing::one_of_several && !set_option(fd.get(), SOL_SOCKET, SO_REUSEPORT, 1))
    return os_error();
  if (name.family() == AF_INET6)
    set_option(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, both_families ? 0 : 1);
  // Clients inherit these.
  set_option(fd.get(), IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(fd.get(), SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(fd.get(), SOL_SOCKET, SO_OOBINLINE, 1);  // an urgent byte is a byte (RFC 6093)
  if (bind(fd.get(), name.get(), name.length) != 0) return os_error();
  if (listen(fd.get(), kBacklog) != 0) return os_error();
  return fd;
}

Result<ListeningSockets> open_tcp_once(const net::ListenAddress& address,
                                       const net::Endpoint& endpoint, size_t workers) {
  ListeningSockets sockets;
  sockets.address = address;
  net::Endpoint at = endpoint;
  // The first one is bound alone, so that another program on the port, even another headrace, is an
  // error; then the workers share the port.
  Result<UniqueFd> probe = bind_tcp(net::SocketName(at), address.all_addresses, Sharing::alone);
  if (!probe) return probe.error();
  if (std::optional<net::Endpoint> bound = net::local_endpoint(probe->get())) at.port = bound->port;
  sockets.address.endpoint.port = at.port;
  if (workers == 1) {
    sockets.fds.push_back(std::move(*probe));
    return sockets;
  }
  probe->close();
  for (size_t i = 0; i < workers; ++i) {
    Result<UniqueFd> fd =
        bind_tcp(net::SocketName(at), address.all_addresses, Sharing::one_of_several);
    if (!fd) return fd.error();
    sockets.fds.push_back(std::move(*fd));
  }
  return sockets;
}

// A free port that the probe has found can be taken by someone else before the workers share it.
Result<ListeningSockets> open_tcp(const net::ListenAddress& address, const net::Endpoint& endpoint,
                                  size_t workers) {
  constexpr int kTries = 5;
  for (int tries = 1;; ++tries) {
    Result<ListeningSockets> opened = open_tcp_once(address, endpoint, workers);
    bool taken = !opened && opened.error().os_errno == EADDRINUSE;
    if (!taken || endpoint.port != 0 || tries == kTries) return opened;
  }
}

// What lies at that path; nothing at all is no file.
FileIdentity identity_of(const std::string& path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) return {};
  return {status.st_dev, status.st_ino};
}

bool has_file(const net::ListenAddress& address) {
  return address.is_unix() && address.unix_path.front() != '@';
}

// A socket left by a process that is gone refuses connections; a living one takes them. What is no
// socket refuses as well, and is somebody's file.
bool is_abandoned(const std::string& path, const net::SocketName& name) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0 || !S_ISSOCK(status.st_mode)) return false;
  UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  return fd && connect(fd.get(), name.get(), name.length) != 0 && errno == ECONNREFUSED;
}

Result<ListeningSockets> open_unix(const net::ListenAddress& address, size_t workers) {
  net::SocketName name = net::SocketName::unix_path(address.unix_path);
  UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return os_error();
  if (bind(fd.get(), name.get(), name.length) != 0) {
    Error error = os_error();
    if (error.os_errno != EADDRINUSE || !is_abandoned(address.unix_path, name)) return error;
    unlink(address.unix_path.c_str());
    if (bind(fd.get(), name.get(), name.length) != 0) return os_error();
  }
  if (listen(fd.get(), kBacklog) != 0) return os_error();
  ListeningSockets sockets;
  sockets.address = address;
  if (has_file(address)) sockets.file = identity_of(address.unix_path);
  for (size_t i = 1; i < workers; ++i) {
    UniqueFd copy(fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
    if (!copy) return os_error();
    sockets.fds.push_back(std::move(copy));
  }
  sockets.fds.push_back(std::move(fd));
  return sockets;
}

}  // namespace

ListeningSockets::~ListeningSockets() {
  if (fds.empty() || !has_file(address)) return;
  if (file != FileIdentity{} && identity_of(address.unix_path) == file)
    unlink(address.unix_path.c_str());
}

Result<ListeningSockets> open_listening(const net::ListenAddress& address, size_t workers) {
  if (address.is_unix()) return open_unix(address, workers);
  if (!address.all_addresses) return open_tcp(address, address.endpoint, workers);
  const uint8_t any6[16] = {};
  net::Endpoint all{IpAddress::v6(any6), address.endpoint.port};
  Result<ListeningSockets> both = open_tcp(address, all, workers);
  if (both || both.error().os_errno != EAFNOSUPPORT) return both;
  all.address = IpAddress();
  return open_tcp(address, all, workers);
}

}  // namespace headrace::app
