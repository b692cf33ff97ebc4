// The system calls of the traffic path, in one place: sys.cc passes them on, and the test build
// links sys_faulty.cc instead, which shortens and fails them by seed. Semantics and errno are the
// kernel's.
#pragma once

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>

struct io_uring;
struct io_uring_sqe;

namespace headrace::net::sys {

ssize_t recv(int fd, void* buffer, size_t bytes);
// Without SIGPIPE; `more` says that further bytes follow at once (MSG_MORE).
ssize_t send(int fd, const void* buffer, size_t bytes, bool more);
ssize_t sendmsg(int fd, const msghdr* message, bool more);
// Never waits on either end.
ssize_t splice(int from_fd, int to_fd, size_t bytes, bool more);
int accept(int fd, sockaddr* address, socklen_t* length);
int socket(int family, int type, int protocol);
int connect(int fd, const sockaddr* address, socklen_t length);
int pipe(int fds[2]);
int epoll_ctl(int fd, int operation, int watched_fd, epoll_event* event);
int epoll_wait(int fd, epoll_event* events, int events_max, int timeout_milliseconds);

// A receive into a buffer of the ring's group, once there is something.
void prepare_receive(io_uring_sqe& entry, int fd, unsigned bytes_max, uint16_t group);
// A send that does not wait, as send() makes it.
void prepare_send(io_uring_sqe& entry, int fd, const void* buffer, size_t bytes);
// Hands over what is queued and waits for a completion; without limit where the timeout is
// negative. A negative errno, as liburing has it.
int submit_and_wait(io_uring& ring, int timeout_milliseconds);

}  // namespace headrace::net::sys
