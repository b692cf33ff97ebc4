#include "net/socket.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>

#include "net/sys.h"

namespace headrace::net {
namespace {

// A signal that came in between is no reason to wait: with edges, nothing would wake us.
template <class Call>
ssize_t uninterrupted(Call call) {
  ssize_t result;
  do {
    result = call();
  } while (result < 0 && errno == EINTR);
  return result;
}

}  // namespace

void reset_and_close(UniqueFd fd) {
  if (!fd) return;
  linger abrupt{1, 0};
  setsockopt(fd.get(), SOL_SOCKET, SO_LINGER, &abrupt, sizeof(abrupt));
}

Result<Done> Socket::open(Loop& loop, UniqueFd fd) {
  expect_nothing();
  Result<Done> added = loop.add(fd.get(), *this);
  if (!added) {
    reset_and_close(std::move(fd));
    return added;
  }
  fd_ = std::move(fd);
  return Done{};
}

IoResult Socket::result_of_read(ssize_t bytes, bool short_read) {
  if (bytes > 0) {
    if (short_read && !hung_up() && !urgent()) clear_readable();
    return {IoResult::Kind::moved, 0, static_cast<size_t>(bytes)};
  }
  if (bytes == 0) return {IoResult::Kind::ended, 0, 0};
  if (errno == EAGAIN) {
    clear_readable();
    return {IoResult::Kind::blocked, 0, 0};
  }
  return {IoResult::Kind::failed, errno, 0};
}

IoResult Socket::result_of_write(ssize_t bytes, bool short_write) {
  if (bytes >= 0) {
    if (short_write) clear_writable();
    return {IoResult::Kind::moved, 0, static_cast<size_t>(bytes)};
  }
  if (errno == EAGAIN) {
    clear_writable();
    return {IoResult::Kind::blocked, 0, 0};
  }
  int os_errno = errno;
  assume_ready();  // what came in before the failure can still be read, and then its error
  return {IoResult::Kind::failed, os_errno, 0};
}

IoResult Socket::receive(MutableByteSpan buffer) {
  return layer_ ? layer_->receive(*this, buffer) : receive_below(buffer);
}

IoResult Socket::receive_below(MutableByteSpan buffer) {
  ssize_t bytes = uninterrupted([&] { return sys::recv(fd(), buffer.data(), buffer.size()); });
  return result_of_read(bytes, bytes < static_cast<ssize_t>(buffer.size()));
}

IoResult Socket::send(ByteSpan bytes, bool more) {
  if (!layer_) return send_below(bytes, more);
  const iovec piece{const_cast<uint8_t*>(bytes.data()), bytes.size()};
  return layer_->send(*this, {&piece, 1}, more);
}

IoResult Socket::send_below(ByteSpan bytes, bool more) {
  ssize_t sent = uninterrupted([&] { return sys::send(fd(), bytes.data(), bytes.size(), more); });
  return result_of_write(sent, sent < static_cast<ssize_t>(bytes.size()));
}

IoResult Socket::send(std::span<const iovec> pieces, bool more) {
  return layer_ ? layer_->send(*this, pieces, more) : send_below(pieces, more);
}

IoResult Socket::send_below(std::span<const iovec> pieces, bool more) {
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(pieces.data());
  message.msg_iovlen = pieces.size();
  size_t total = 0;
  for (const iovec& piece : pieces) total += piece.iov_len;
  ssize_t sent = uninterrupted([&] { return sys::sendmsg(fd(), &message, more); });
  return result_of_write(sent, sent < static_cast<ssize_t>(total));
}

IoResult Socket::receive_below(msghdr& message) {
  ssize_t bytes = uninterrupted([&] { return sys::recvmsg(fd(), &message); });
  return result_of_read(bytes, false);
}

IoResult Socket::send_below(const msghdr& message) {
  ssize_t sent = uninterrupted([&] { return sys::sendmsg(fd(), &message, false); });
  return result_of_write(sent, false);
}

IoResult Socket::splice_in(int pipe_write_end, size_t bytes_max) {
  // A short splice may as well mean that the pipe's slots ran out, so it says nothing of the
  // socket.
  ssize_t bytes =
      uninterrupted([&] { return sys::splice(fd(), pipe_write_end, bytes_max, false); });
  if (bytes < 0 && layer_) {
    if (errno == EINVAL) return {IoResult::Kind::ended, 0, 0};
    if (errno == EMSGSIZE) errno = EBADMSG;  // a record of that size
  }
  return result_of_read(bytes, false);
}

IoResult Socket::splice_out(int pipe_read_end, size_t bytes, bool more) {
  ssize_t sent = uninterrupted([&] { return sys::splice(pipe_read_end, fd(), bytes, more); });
  return result_of_write(sent, false);
}

size_t Socket::unacknowledged_bytes() const {
  int bytes = 0;
  if (::ioctl(fd(), SIOCOUTQ, &bytes) != 0 || bytes < 0) return 0;
  return static_cast<size_t>(bytes);
}

bool Socket::shut_writes(bool closes) {
  if (layer_) return layer_->shut_writes(*this);
  if (!closes) shut_writes_below();
  return true;
}

void Socket::shut_writes_below() {
  ::shutdown(fd(), SHUT_WR);
}

void Socket::reset() {
  reset_and_close(std::move(fd_));
  close();
}

}  // namespace headrace::net
