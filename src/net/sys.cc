#include "net/sys.h"

#include <fcntl.h>
#include <liburing.h>
#include <unistd.h>

namespace headrace::net::sys {

ssize_t recv(int fd, void* buffer, size_t bytes) {
  return ::recv(fd, buffer, bytes, MSG_DONTWAIT);
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

// A first try would mostly come too early: the socket was emptied just now.
void prepare_receive(io_uring_sqe& entry, int fd, unsigned bytes_max, uint16_t group) {
  io_uring_prep_recv(&entry, fd, nullptr, bytes_max, 0);
  entry.ioprio |= IORING_RECVSEND_POLL_FIRST;
  entry.flags |= IOSQE_BUFFER_SELECT;
  entry.buf_group = group;
}

void prepare_send(io_uring_sqe& entry, int fd, const void* buffer, size_t bytes) {
  io_uring_prep_send(&entry, fd, buffer, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
}

int submit_and_wait(io_uring& ring, int timeout_milliseconds) {
  if (timeout_milliseconds == 0) return io_uring_submit_and_get_events(&ring);
  if (timeout_milliseconds < 0) return io_uring_submit_and_wait(&ring, 1);
  __kernel_timespec timeout{timeout_milliseconds / 1000,
                            (timeout_milliseconds % 1000) * 1'000'000ll};
  io_uring_cqe* first = nullptr;
  return io_uring_submit_and_wait_timeout(&ring, &first, 1, &timeout, nullptr);
}

}  // namespace headrace::net::sys
