#include "plain_socket.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ostream>
#include <vector>

#include "base/check.h"

namespace headrace::io {
namespace {

void set_option(int fd, int level, int option, int value) {
  HEADRACE_ASSERT(::setsockopt(fd, level, option, &value, sizeof(value)) == 0);
}

void set_sizes(int fd, BufferSizes sizes) {
  if (sizes.receive_bytes != 0) set_option(fd, SOL_SOCKET, SO_RCVBUF, sizes.receive_bytes);
  if (sizes.send_bytes != 0) set_option(fd, SOL_SOCKET, SO_SNDBUF, sizes.send_bytes);
}

UniqueFd new_socket(int family) {
  UniqueFd fd(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  HEADRACE_ASSERT(fd);
  set_option(fd.get(), IPPROTO_TCP, TCP_NODELAY, 1);
  return fd;
}

bool try_bind(int fd, const net::Endpoint& endpoint) {
  const net::SocketName name(endpoint);
  set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
  return ::bind(fd, name.get(), name.length) == 0;
}

net::Endpoint bind_to(int fd, const net::Endpoint& endpoint) {
  HEADRACE_ASSERT(try_bind(fd, endpoint));
  return net::local_endpoint(fd).value();
}

// For a socket that listens: how many wait in its backlog, and how many may.
tcp_info listening_info(int fd) {
  tcp_info info{};
  socklen_t length = sizeof(info);
  HEADRACE_ASSERT(::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) == 0);
  return info;
}

}  // namespace

net::Endpoint loopback(uint16_t port, const char* address) {
  return {IpAddress::parse(address).value(), port};
}

PlainSocket PlainSocket::connect_to(const net::Endpoint& endpoint, BufferSizes sizes) {
  const net::SocketName name(endpoint);
  PlainSocket socket(new_socket(name.family()));
  set_sizes(socket.fd(), sizes);
  if (::connect(socket.fd(), name.get(), name.length) != 0 && errno != EINPROGRESS)
    socket.note_failure(errno);
  return socket;
}

void PlainSocket::send(std::string_view bytes) {
  outgoing_ += bytes;
  flush();
}

bool PlainSocket::flush() {
  size_t sent = send_some(outgoing_);
  outgoing_.erase(0, sent);
  if (!outgoing_.empty()) return false;
  if (shut_when_sent_ && is_open()) ::shutdown(fd(), SHUT_WR);
  shut_when_sent_ = false;
  return true;
}

size_t PlainSocket::send_some(std::string_view bytes) {
  size_t sent = 0;
  while (is_open() && sent < bytes.size()) {
    ssize_t result =
        ::send(fd(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (result < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN || errno == ENOTCONN) break;
      // Nobody takes it any more: it counts as gone. The kernel tells of a reset only once.
      reset_seen_ = reset_seen_ || errno == ECONNRESET;
      return bytes.size();
    }
    sent += static_cast<size_t>(result);
  }
  return sent;
}

void PlainSocket::shut_writes() {
  shut_when_sent_ = true;
  flush();
}

void PlainSocket::reset() {
  linger abrupt{1, 0};
  HEADRACE_ASSERT(::setsockopt(fd(), SOL_SOCKET, SO_LINGER, &abrupt, sizeof(abrupt)) == 0);
  fd_.close();
}

void PlainSocket::note_failure(int os_errno) {
  // Everything else, EBADF say, is a fault of the test itself.
  HEADRACE_ASSERT(os_errno == ECONNRESET || os_errno == EPIPE || os_errno == ECONNREFUSED);
  end_ = End::reset;
}

size_t PlainSocket::receive(size_t bytes_max) {
  std::array<char, 65536> buffer;
  size_t taken = 0;
  while (end_ == End::open && taken < bytes_max) {
    ssize_t result =
        ::recv(fd(), buffer.data(), std::min(buffer.size(), bytes_max - taken), MSG_DONTWAIT);
    if (result > 0) {
      received_.append(buffer.data(), static_cast<size_t>(result));
      taken += static_cast<size_t>(result);
    } else if (result == 0) {
      end_ = reset_seen_ ? End::reset : End::clean;
    } else if (errno == EAGAIN || errno == ENOTCONN) {
      break;
    } else if (errno != EINTR) {
      note_failure(errno);
    }
  }
  return taken;
}

const std::string& PlainSocket::received() {
  if (is_open()) {
    flush();
    receive();
  }
  return received_;
}

std::string PlainSocket::take_received() {
  received();
  return std::exchange(received_, {});
}

PlainSocket::End PlainSocket::end() {
  received();
  return end_;
}

std::ostream& operator<<(std::ostream& out, PlainSocket::End end) {
  switch (end) {
    case PlainSocket::End::open:
      return out << "open";
    case PlainSocket::End::clean:
      return out << "clean";
    case PlainSocket::End::reset:
      return out << "reset";
  }
  return out;
}

PlainListener::PlainListener(const char* address, uint16_t port, int backlog, BufferSizes sizes) {
  const net::Endpoint wanted = loopback(port, address);
  fd_ = new_socket(net::SocketName(wanted).family());
  set_sizes(fd_.get(), sizes);
  endpoint_ = bind_to(fd_.get(), wanted);
  HEADRACE_ASSERT(::listen(fd_.get(), backlog) == 0);
}

std::optional<PlainSocket> PlainListener::accept() {
  UniqueFd fd(::accept4(fd_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!fd) return std::nullopt;
  return PlainSocket(std::move(fd));
}

size_t PlainListener::waiting() const {
  return listening_info(fd_.get()).tcpi_unacked;
}

BlackHole::BlackHole(const char* address, uint16_t port)
    : listener_(address, port, 0), filler_(PlainSocket::connect_to(listener_.endpoint())) {
  // A backlog of nought still holds one, and loopback has delivered it by now.
  const tcp_info info = listening_info(listener_.fd());
  HEADRACE_ASSERT(info.tcpi_unacked > info.tcpi_sacked);
}

RefusedPort::RefusedPort(const char* address, uint16_t port) {
  const net::Endpoint wanted = loopback(port, address);
  fd_ = new_socket(net::SocketName(wanted).family());
  endpoint_ = bind_to(fd_.get(), wanted);
}

uint16_t free_port(std::initializer_list<const char*> addresses) {
  for (;;) {
    std::vector<UniqueFd> bound;
    uint16_t port = 0;
    bool free = true;
    for (const char* address : addresses) {
      const net::Endpoint wanted = loopback(port, address);
      bound.push_back(new_socket(net::SocketName(wanted).family()));
      free = free && try_bind(bound.back().get(), wanted);
      if (port == 0) port = net::local_endpoint(bound.back().get()).value().port;
    }
    if (free) return port;
  }
}

std::string pattern(uint64_t begin, size_t bytes) {
  std::string text(bytes, '\0');
  for (size_t i = 0; i < bytes; ++i) {
    const uint64_t at = begin + i;
    // The number of its group of eight bytes, one byte of it in each place.
    const uint64_t group = (at / 8 + 1) * 0x9e3779b97f4a7c15ull;
    text[i] = static_cast<char>(group >> (at % 8 * 8));
  }
  return text;
}

}  // namespace headrace::io
