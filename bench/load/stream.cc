#include "stream.h"

#include <openssl/err.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace headrace::load {
namespace {

constexpr size_t kTlsRecordBytes = 16 * 1024;

template <class Call>
IoResult from_syscall(Call call) {
  ssize_t returned;
  do {
    returned = call();
  } while (returned < 0 && errno == EINTR);
  if (returned > 0) return {IoResult::Kind::moved, static_cast<size_t>(returned)};
  if (returned == 0) return {IoResult::Kind::ended};
  if (errno == EAGAIN) return {IoResult::Kind::blocked};
  return {IoResult::Kind::failed, 0, errno};
}

}  // namespace

void Stream::open(UniqueFd fd, UniqueSsl ssl) {
  fd_ = std::move(fd);
  ssl_ = std::move(ssl);
  handshake_done_ = false;
  broken_ = false;
}

void Stream::close() {
  if (ssl_ && handshake_done_ && !broken_) ::SSL_shutdown(ssl_.get());
  ::ERR_clear_error();
  ssl_.reset();
  fd_.close();
}

IoResult Stream::tls_result(int returned, size_t bytes) {
  if (returned > 0) return {IoResult::Kind::moved, bytes};
  const int os_errno = errno;
  switch (::SSL_get_error(ssl_.get(), returned)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
      return {IoResult::Kind::blocked};
    case SSL_ERROR_ZERO_RETURN:
      return {IoResult::Kind::ended};
    case SSL_ERROR_SYSCALL:
      broken_ = true;
      return {IoResult::Kind::failed, 0, os_errno};
    default:
      broken_ = true;
      ::ERR_clear_error();
      return {IoResult::Kind::failed, 0, 0};
  }
}

IoResult Stream::handshake() {
  ::ERR_clear_error();
  const int returned = ::SSL_do_handshake(ssl_.get());
  const IoResult result = tls_result(returned, 0);
  handshake_done_ = result.moved();
  return result;
}

IoResult Stream::read(std::span<uint8_t> room) {
  if (!ssl_) return from_syscall([&] { return ::recv(fd_.get(), room.data(), room.size(), 0); });
  ::ERR_clear_error();
  size_t bytes = 0;
  const int returned = ::SSL_read_ex(ssl_.get(), room.data(), room.size(), &bytes);
  return tls_result(returned, bytes);
}

IoResult Stream::write(std::span<const uint8_t> bytes) {
  if (!ssl_) {
    return from_syscall(
        [&] { return ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL); });
  }
  ::ERR_clear_error();
  size_t written = 0;
  const int returned = ::SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &written);
  return tls_result(returned, written);
}

IoResult Stream::write(std::span<const uint8_t> first, std::span<const uint8_t> second) {
  if (second.empty()) return write(first);
  if (ssl_) {
    // One record for both; TLS copies them anyway.
    std::array<uint8_t, kTlsRecordBytes> record;
    const size_t of_first = std::min(first.size(), record.size());
    const size_t of_second = std::min(second.size(), record.size() - of_first);
    std::memcpy(record.data(), first.data(), of_first);
    std::memcpy(record.data() + of_first, second.data(), of_second);
    return write(std::span(record.data(), of_first + of_second));
  }
  std::array<iovec, 2> parts = {iovec{const_cast<uint8_t*>(first.data()), first.size()},
                                iovec{const_cast<uint8_t*>(second.data()), second.size()}};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  return from_syscall([&] { return ::sendmsg(fd_.get(), &message, MSG_NOSIGNAL); });
}

IoResult Stream::write_pattern(const Pattern& pattern, uint64_t position, size_t bytes_max) {
  if (ssl_) return write(std::span(pattern.at(position), std::min(bytes_max, kTlsRecordBytes)));
  auto offset = static_cast<off_t>(position % kPatternPeriodBytes);
  const size_t to_end = kPatternPeriodBytes - static_cast<size_t>(offset);
  const size_t length = std::min(bytes_max, to_end);
  return from_syscall([&] { return ::sendfile(fd_.get(), pattern.file(), &offset, length); });
}

IoResult Stream::discard(size_t bytes_max) {
  // Where TLS is spoken the bytes have to land somewhere; nobody reads them.
  static std::array<uint8_t, kTlsRecordBytes> sink;
  if (ssl_) return read(std::span(sink.data(), std::min(bytes_max, sink.size())));
  // The kernel drops the bytes; it wants a buffer of the length only to check its address.
  return from_syscall([&] { return ::recv(fd_.get(), nullptr, bytes_max, MSG_TRUNC); });
}

void Stream::shut_writes() {
  if (ssl_ && handshake_done_ && !broken_) ::SSL_shutdown(ssl_.get());
  ::shutdown(fd_.get(), SHUT_WR);
}

}  // namespace headrace::load
