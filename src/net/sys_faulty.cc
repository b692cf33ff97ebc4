#include "net/sys_faulty.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <unordered_map>
#include <unordered_set>

#include "net/sys.h"

namespace headrace::net::sys {
namespace {

struct Watched {
  int epoll_fd;
  epoll_event event;
};

thread_local FaultPlan plan;
thread_local uint64_t random_state = 1;
thread_local uint64_t injected = 0;
// A made-up EAGAIN has used up an edge that the kernel will not repeat, so the next wait asks it
// to.
thread_local std::unordered_map<int, Watched> watched;
thread_local std::unordered_set<int> owed;

uint64_t next_random() {  // xorshift64*
  random_state ^= random_state >> 12;
  random_state ^= random_state << 25;
  random_state ^= random_state >> 27;
  return random_state * 2685821657736338717ull;
}

bool happens(unsigned permille) {
  if (permille == 0 || next_random() % 1000 >= permille) return false;
  ++injected;
  return true;
}

bool fails(int fd) {
  if (happens(plan.interrupt_permille)) {
    errno = EINTR;
    return true;
  }
  if (watched.contains(fd) && happens(plan.again_permille)) {
    owed.insert(fd);
    errno = EAGAIN;
    return true;
  }
  return false;
}

size_t shortened(size_t bytes) {
  if (bytes < 2 || !happens(plan.short_permille)) return bytes;
  return 1 + next_random() % std::min<size_t>(bytes - 1, 4096);
}

// A short transfer that the kernel did not cause leaves the descriptor ready without a new edge.
ssize_t owing(int fd, size_t wanted, size_t tried, ssize_t result) {
  if (tried < wanted && result == static_cast<ssize_t>(tried)) owed.insert(fd);
  return result;
}

bool lacks(std::initializer_list<int> errnos) {
  if (!happens(plan.shortage_permille)) return false;
  errno = *(errnos.begin() + next_random() % errnos.size());
  return true;
}

// The number of a new descriptor may have belonged to one that was closed meanwhile.
int renewed(int fd) {
  watched.erase(fd);
  owed.erase(fd);
  return fd;
}

}  // namespace

void set_fault_plan(const FaultPlan& new_plan) {
  plan = new_plan;
  random_state = new_plan.seed * 0x9e3779b97f4a7c15ull + 1;
  injected = 0;
}

uint64_t injected_faults() {
  return injected;
}

ssize_t recv(int fd, void* buffer, size_t bytes) {
  if (fails(fd)) return -1;
  size_t tried = shortened(bytes);
  return owing(fd, bytes, tried, ::recv(fd, buffer, tried, MSG_DONTWAIT));
}

ssize_t recvmsg(int fd, msghdr* message) {
  if (fails(fd)) return -1;
  return ::recvmsg(fd, message, MSG_DONTWAIT);
}

ssize_t send(int fd, const void* buffer, size_t bytes, bool more) {
  if (fails(fd)) return -1;
  size_t tried = shortened(bytes);
  ssize_t sent = ::send(fd, buffer, tried, MSG_NOSIGNAL | MSG_DONTWAIT | (more ? MSG_MORE : 0));
  return owing(fd, bytes, tried, sent);
}

ssize_t sendmsg(int fd, const msghdr* message, bool more) {
  if (fails(fd)) return -1;
  size_t total = 0;
  for (size_t i = 0; i < message->msg_iovlen; ++i) total += message->msg_iov[i].iov_len;
  size_t tried = shortened(total);
  if (tried == total)
    return ::sendmsg(fd, message, MSG_NOSIGNAL | MSG_DONTWAIT | (more ? MSG_MORE : 0));
  // Only the beginning of the first piece.
  size_t bytes = std::min(tried, message->msg_iov[0].iov_len);
  return owing(fd, total, bytes,
               ::send(fd, message->msg_iov[0].iov_base, bytes, MSG_NOSIGNAL | MSG_DONTWAIT));
}

ssize_t splice(int from_fd, int to_fd, size_t bytes, bool more) {
  int socket_fd = watched.contains(from_fd) ? from_fd : to_fd;
  if (fails(socket_fd)) return -1;
  return ::splice(from_fd, nullptr, to_fd, nullptr, shortened(bytes),
                  SPLICE_F_MOVE | SPLICE_F_NONBLOCK | (more ? SPLICE_F_MORE : 0u));
}

int accept(int fd, sockaddr* address, socklen_t* length) {
  if (lacks({EMFILE, ENFILE, ENOBUFS, ECONNABORTED, EINTR})) return -1;
  return renewed(::accept4(fd, address, length, SOCK_NONBLOCK | SOCK_CLOEXEC));
}

int socket(int family, int type, int protocol) {
  if (lacks({EMFILE, ENFILE, ENOBUFS})) return -1;
  return renewed(::socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol));
}

int connect(int fd, const sockaddr* address, socklen_t length) {
  if (lacks({ENOBUFS, EADDRNOTAVAIL})) return -1;
  return ::connect(fd, address, length);
}

int pipe(int fds[2]) {
  if (lacks({EMFILE, ENFILE})) return -1;
  if (::pipe2(fds, O_NONBLOCK | O_CLOEXEC) != 0) return -1;
  renewed(fds[0]);
  renewed(fds[1]);
  return 0;
}

int epoll_ctl(int fd, int operation, int watched_fd, epoll_event* event) {
  if (operation == EPOLL_CTL_ADD && lacks({ENOSPC, ENOMEM})) return -1;
  int result = ::epoll_ctl(fd, operation, watched_fd, event);
  if (operation != EPOLL_CTL_MOD) renewed(watched_fd);
  if (result == 0 && event && (event->events & EPOLLET)) watched[watched_fd] = {fd, *event};
  return result;
}

int epoll_wait(int fd, epoll_event* events, int events_max, int timeout_milliseconds) {
  for (int owed_fd : owed) {
    auto found = watched.find(owed_fd);
    if (found == watched.end() || found->second.epoll_fd != fd) continue;
    // Fails where the descriptor was closed meanwhile; then nobody waits for it.
    ::epoll_ctl(fd, EPOLL_CTL_MOD, owed_fd, &found->second.event);
  }
  owed.clear();
  if (happens(plan.interrupt_permille)) {
    errno = EINTR;
    return -1;
  }
  return ::epoll_wait(fd, events, events_max, timeout_milliseconds);
}

}  // namespace headrace::net::sys
