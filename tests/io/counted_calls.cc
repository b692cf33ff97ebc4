#include "counted_calls.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdlib>
#include <new>
#include <numeric>
#include <ostream>
#include <string_view>

#include "base/check.h"

namespace headrace::io {
namespace {

thread_local Counts* counted = nullptr;

void note(Call call) {
  if (counted) ++counted->calls[static_cast<size_t>(call)];
}

int note_wait(int events) {
  if (events > 0) note(Call::wait);
  return events;
}

void* allocate(size_t bytes) {
  if (counted) {
    ++counted->allocations;
    counted->allocated_bytes += bytes;
  }
  void* memory = std::malloc(bytes == 0 ? 1 : bytes);
  HEADRACE_ASSERT(memory);
  return memory;
}

constexpr std::array<std::string_view, Counts::kKinds> kNames{
    "receive", "send",   "splice",   "wait",  "watch", "accept",  "socket", "connect", "bind",
    "name",    "option", "shutdown", "close", "pipe",  "control", "open",   "other"};

}  // namespace

size_t Counts::all_calls() const {
  return std::accumulate(calls.begin(), calls.end(), size_t{0});
}

std::ostream& operator<<(std::ostream& out, const Counts& counts) {
  for (size_t i = 0; i < Counts::kKinds; ++i)
    if (counts.calls[i] != 0) out << kNames[i] << ' ' << counts.calls[i] << ", ";
  return out << "allocations " << counts.allocations << " of " << counts.allocated_bytes
             << " bytes";
}

Counting::Counting(Counts& counts) {
  HEADRACE_ASSERT(!counted);
  counted = &counts;
}

Counting::~Counting() {
  counted = nullptr;
}

}  // namespace headrace::io

// Where the linker leads the calls, and where they are really made. The signatures are those of
// POSIX and Linux.
// -------------------------------------------------------------------------------------------------

using headrace::io::Call;
using headrace::io::note;
using headrace::io::note_wait;

extern "C" {

decltype(::recv) __real_recv;
ssize_t __wrap_recv(int fd, void* buffer, size_t bytes, int flags) {
  note(Call::receive);
  return __real_recv(fd, buffer, bytes, flags);
}

decltype(::recvfrom) __real_recvfrom;
ssize_t __wrap_recvfrom(int fd, void* buffer, size_t bytes, int flags, sockaddr* address,
                        socklen_t* length) {
  note(Call::receive);
  return __real_recvfrom(fd, buffer, bytes, flags, address, length);
}

decltype(::recvmsg) __real_recvmsg;
ssize_t __wrap_recvmsg(int fd, msghdr* message, int flags) {
  note(Call::receive);
  return __real_recvmsg(fd, message, flags);
}

decltype(::read) __real_read;
ssize_t __wrap_read(int fd, void* buffer, size_t bytes) {
  note(Call::receive);
  return __real_read(fd, buffer, bytes);
}

decltype(::readv) __real_readv;
ssize_t __wrap_readv(int fd, const iovec* pieces, int count) {
  note(Call::receive);
  return __real_readv(fd, pieces, count);
}

decltype(::send) __real_send;
ssize_t __wrap_send(int fd, const void* buffer, size_t bytes, int flags) {
  note(Call::send);
  return __real_send(fd, buffer, bytes, flags);
}

decltype(::sendto) __real_sendto;
ssize_t __wrap_sendto(int fd, const void* buffer, size_t bytes, int flags, const sockaddr* address,
                      socklen_t length) {
  note(Call::send);
  return __real_sendto(fd, buffer, bytes, flags, address, length);
}

decltype(::sendmsg) __real_sendmsg;
ssize_t __wrap_sendmsg(int fd, const msghdr* message, int flags) {
  note(Call::send);
  return __real_sendmsg(fd, message, flags);
}

decltype(::write) __real_write;
ssize_t __wrap_write(int fd, const void* buffer, size_t bytes) {
  note(Call::send);
  return __real_write(fd, buffer, bytes);
}

decltype(::writev) __real_writev;
ssize_t __wrap_writev(int fd, const iovec* pieces, int count) {
  note(Call::send);
  return __real_writev(fd, pieces, count);
}

decltype(::splice) __real_splice;
ssize_t __wrap_splice(int from, off64_t* from_offset, int to, off64_t* to_offset, size_t bytes,
                      unsigned flags) {
  note(Call::splice);
  return __real_splice(from, from_offset, to, to_offset, bytes, flags);
}

decltype(::epoll_wait) __real_epoll_wait;
int __wrap_epoll_wait(int fd, epoll_event* events, int events_max, int timeout) {
  return note_wait(__real_epoll_wait(fd, events, events_max, timeout));
}

decltype(::poll) __real_poll;
int __wrap_poll(pollfd* watched, nfds_t count, int timeout) {
  return note_wait(__real_poll(watched, count, timeout));
}

decltype(::epoll_ctl) __real_epoll_ctl;
int __wrap_epoll_ctl(int fd, int operation, int watched, epoll_event* event) {
  note(Call::watch);
  return __real_epoll_ctl(fd, operation, watched, event);
}

decltype(::accept) __real_accept;
int __wrap_accept(int fd, sockaddr* address, socklen_t* length) {
  note(Call::accept);
  return __real_accept(fd, address, length);
}

decltype(::accept4) __real_accept4;
int __wrap_accept4(int fd, sockaddr* address, socklen_t* length, int flags) {
  note(Call::accept);
  return __real_accept4(fd, address, length, flags);
}

decltype(::socket) __real_socket;
int __wrap_socket(int family, int type, int protocol) {
  note(Call::socket);
  return __real_socket(family, type, protocol);
}

decltype(::connect) __real_connect;
int __wrap_connect(int fd, const sockaddr* address, socklen_t length) {
  note(Call::connect);
  return __real_connect(fd, address, length);
}

decltype(::bind) __real_bind;
int __wrap_bind(int fd, const sockaddr* address, socklen_t length) {
  note(Call::bind);
  return __real_bind(fd, address, length);
}

decltype(::getsockname) __real_getsockname;
int __wrap_getsockname(int fd, sockaddr* address, socklen_t* length) {
  note(Call::name);
  return __real_getsockname(fd, address, length);
}

decltype(::getpeername) __real_getpeername;
int __wrap_getpeername(int fd, sockaddr* address, socklen_t* length) {
  note(Call::name);
  return __real_getpeername(fd, address, length);
}

decltype(::getsockopt) __real_getsockopt;
int __wrap_getsockopt(int fd, int level, int option, void* value, socklen_t* length) {
  note(Call::option);
  return __real_getsockopt(fd, level, option, value, length);
}

decltype(::setsockopt) __real_setsockopt;
int __wrap_setsockopt(int fd, int level, int option, const void* value, socklen_t length) {
  note(Call::option);
  return __real_setsockopt(fd, level, option, value, length);
}

decltype(::shutdown) __real_shutdown;
int __wrap_shutdown(int fd, int how) {
  note(Call::shutdown);
  return __real_shutdown(fd, how);
}

decltype(::close) __real_close;
int __wrap_close(int fd) {
  note(Call::close);
  return __real_close(fd);
}

decltype(::pipe2) __real_pipe2;
int __wrap_pipe2(int* fds, int flags) {
  note(Call::pipe);
  return __real_pipe2(fds, flags);
}

// Nobody here passes more than one argument of a pointer's size to the two that take any.
decltype(::fcntl) __real_fcntl;
int __wrap_fcntl(int fd, int command, ...) {
  note(Call::control);
  va_list arguments;
  va_start(arguments, command);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  return __real_fcntl(fd, command, argument);
}

decltype(::ioctl) __real_ioctl;
int __wrap_ioctl(int fd, unsigned long request, ...) {
  note(Call::control);
  va_list arguments;
  va_start(arguments, request);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  return __real_ioctl(fd, request, argument);
}

decltype(::open) __real_open;
int __wrap_open(const char* path, int flags, ...) {
  note(Call::open);
  va_list arguments;
  va_start(arguments, flags);
  unsigned mode = va_arg(arguments, unsigned);
  va_end(arguments);
  return __real_open(path, flags, mode);
}

// Whatever else is asked for by number.
decltype(::syscall) __real_syscall;
long __wrap_syscall(long number, ...) {
  note(Call::other);
  va_list arguments;
  va_start(arguments, number);
  std::array<long, 6> six{};
  for (long& argument : six) argument = va_arg(arguments, long);
  va_end(arguments);
  return __real_syscall(number, six[0], six[1], six[2], six[3], six[4], six[5]);
}

}  // extern "C"

// Aligned ones and those of c-ares' malloc are not on the path of a request.
void* operator new(size_t bytes) {
  return headrace::io::allocate(bytes);
}
void* operator new[](size_t bytes) {
  return headrace::io::allocate(bytes);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, size_t) noexcept {
  std::free(memory);
}
