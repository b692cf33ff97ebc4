#include "net/sys.h"

#include <fcntl.h>
#include <unistd.h>

namespace headrace::net::sys {

ssize_t recv(int fd, void* buffer, size_t bytes) {
  return ::recv(fd, buffer, bytes, MSG_DONTWAIT);
}

ssize_t recvmsg(int fd, msghdr* message) {
  return ::recvmsg(fd, message, MSG_DONTWAIT);
}

ssize_t send(int fd, const void* buffer, size_t bytes, bool more) {
  return ::send(fd, buffer, bytes, MSG_NOSIGNAL | MSG_DONTWAIT | (more ? MSG_MORE : 0));
}

ssize_t sendmsg(int fd, const msghdr* message, bool more) {
  return ::sendmsg(fd, message, MSG_NOSIGNAL | MSG_DONTWAIT | (more ? MSG_MORE : 0));
}

ssize_t splice(int from_fd, int to_fd, size_t bytes, bool more) {
  return ::splice(from_fd, nullptr, to_fd, nullptr, bytes,
                  SPLICE_F_MOVE | SPLICE_F_NONBLOCK | (more ? SPLICE_F_MORE : 0u));
}

int accept(int fd, sockaddr* address, socklen_t* length) {
  return ::accept4(fd, address, length, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

int socket(int family, int type, int protocol) {
  return ::socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol);
}

int connect(int fd, const sockaddr* address, socklen_t length) {
  return ::connect(fd, address, length);
}

int pipe(int fds[2]) {
  return ::pipe2(fds, O_NONBLOCK | O_CLOEXEC);
}

int epoll_ctl(int fd, int operation, int watched_fd, epoll_event* event) {
  return ::epoll_ctl(fd, operation, watched_fd, event);
}

int epoll_wait(int fd, epoll_event* events, int events_max, int timeout_milliseconds) {
  return ::epoll_wait(fd, events, events_max, timeout_milliseconds);
}

}  // namespace headrace::net::sys
