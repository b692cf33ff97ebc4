// The system calls of the traffic path, in one place: sys.cc passes them on, and the test build
// links sys_faulty.cc instead, which shortens and fails them by seed. Semantics and errno are the
// kernel's.
#pragma once

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <cstddef>

namespace headrace::net::sys {

ssize_t recv(int fd, void* buffer, size_t bytes);
ssize_t recvmsg(int fd, msghdr* message);
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

}  // namespace headrace::net::sys
