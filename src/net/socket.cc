#include "net/socket.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

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
  // What came in before the failure can still be read, and then its error.
  assume_ready();
  if (receiving()) arrival()->ring.cancel(*arrival());
  return {IoResult::Kind::failed, os_errno, 0};
}

IoResult Socket::receive(MutableByteSpan buffer) {
  if (Layer* layer = find_layer()) return layer->receive(*this, buffer);
  if (receiving()) return {IoResult::Kind::blocked, 0, 0};
  if (holds_result()) return take_arrival(buffer);
  return receive_below(buffer);
}

IoResult Socket::receive_below(MutableByteSpan buffer) {
  ssize_t bytes = uninterrupted([&] { return sys::recv(fd(), buffer.data(), buffer.size()); });
  return result_of_read(bytes, bytes < static_cast<ssize_t>(buffer.size()));
}

// As much as one system call would have brought: where a buffer of the ring was too small, the rest
// is received by one.
IoResult Socket::take_arrival(MutableByteSpan buffer) {
  Arrival& arrived = *arrival();
  ByteSpan here = arrived.ring.bytes(arrived);
  here = here.first(std::min(here.size(), buffer.size()));
  if (!here.empty()) std::memcpy(buffer.data(), here.data(), here.size());
  arrived.ring.take(arrived, here.size());
  if (arrived.result <= 0) {
    errno = -arrived.result;
    return result_of_read(arrived.result == 0 ? 0 : -1, false);
  }
  buffer = buffer.subspan(here.size());
  const bool to_be_continued = !arrived.here && arrived.more && !buffer.empty();
  if (!to_be_continued)
    return result_of_read(static_cast<ssize_t>(here.size()), !arrived.here && !arrived.more);
  const ssize_t further =
      uninterrupted([&] { return sys::recv(fd(), buffer.data(), buffer.size()); });
  if (further > 0 || (further < 0 && errno == EAGAIN)) {
    const ssize_t more = std::max<ssize_t>(further, 0);
    return result_of_read(static_cast<ssize_t>(here.size()) + more,
                          more < static_cast<ssize_t>(buffer.size()));
  }
  // The end, or a failure that is told once only: for the next call.
  arrived.result = further == 0 ? 0 : -errno;
  arrived.here = true;
  return {IoResult::Kind::moved, 0, here.size()};
}

IoResult Socket::send(ByteSpan bytes, bool more) {
  Layer* layer = find_layer();
  if (!layer) return send_below(bytes, more);
  const iovec piece{const_cast<uint8_t*>(bytes.data()), bytes.size()};
  return layer->send(*this, {&piece, 1}, more);
}

IoResult Socket::send_below(ByteSpan bytes, bool more) {
  ssize_t sent = uninterrupted([&] { return sys::send(fd(), bytes.data(), bytes.size(), more); });
  return result_of_write(sent, sent < static_cast<ssize_t>(bytes.size()));
}

IoResult Socket::send(std::span<const iovec> pieces, bool more) {
  if (Layer* layer = find_layer()) return layer->send(*this, pieces, more);
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(pieces.data());
  message.msg_iovlen = pieces.size();
  size_t total = 0;
  for (const iovec& piece : pieces) total += piece.iov_len;
  ssize_t sent = uninterrupted([&] { return sys::sendmsg(fd(), &message, more); });
  return result_of_write(sent, sent < static_cast<ssize_t>(total));
}

// Where the ring does not receive, a call of its own for these bytes would be no gain.
bool Socket::send_together(ByteSpan bytes) {
  return arrival() && arrival()->ahead && arrival()->ring.send(*arrival(), bytes);
}

IoResult Socket::take_unsent(Residue& waiting) {
  const std::unique_ptr<Unsent> unsent = std::move(arrival()->unsent);
  if (unsent->os_errno != 0) {
    errno = unsent->os_errno;
    return result_of_write(-1, false);
  }
  const size_t bytes = unsent->bytes.size();
  unsent->bytes.append(waiting.bytes());
  waiting = std::move(unsent->bytes);
  return {IoResult::Kind::moved, 0, bytes};
}

IoResult Socket::splice_in(int pipe_write_end, size_t bytes_max) {
  HEADRACE_ASSERT(!receiving() && !holds_result());
  // A short splice may as well mean that the pipe's slots ran out, so it says nothing of the
  // socket.
  ssize_t bytes =
      uninterrupted([&] { return sys::splice(fd(), pipe_write_end, bytes_max, false); });
  return result_of_read(bytes, false);
}

IoResult Socket::splice_out(int pipe_read_end, size_t bytes, bool more) {
  ssize_t sent = uninterrupted([&] { return sys::splice(pipe_read_end, fd(), bytes, more); });
  return result_of_write(sent, false);
}

void Socket::receive_ahead(Ring& ring) {
  if (receiving() || find_layer()) return;
  if (!arrival() || !arrival()->ahead) {
    Result<Done> changed = ring.loop().change(fd(), *this, Loop::kEdgesButReading);
    HEADRACE_ASSERT(changed.has_value());  // for a descriptor in the set nothing can be missing
    if (!arrival()) attachment_ = std::make_unique<Arrival>(ring, *this, fd());
    set_by_ring(true);
    arrival()->ahead = true;
  }
  ring.receive(*arrival());
}

void Socket::expect_event() {
  if (!arrival() || !arrival()->ahead || receiving()) return;
  HEADRACE_ASSERT(!holds_result());
  Result<Done> changed = arrival()->ring.loop().change(fd(), *this, Loop::kEdges);
  HEADRACE_ASSERT(changed.has_value());
  arrival()->ahead = false;
  if (arrival()->departing || arrival()->unsent) return;
  attachment_.reset();
  set_by_ring(false);
}

// A socket that is being received from stays open behind its descriptor, and in the epoll set.
void Socket::leave_ring() {
  if (!arrival()) return;
  if (receiving()) arrival()->ring.loop().remove(fd());
  std::unique_ptr<Arrival> last(arrival());
  (void)attachment_.release();
  set_by_ring(false);
  Ring::abandon(std::move(last));
}

void Socket::close() {
  leave_ring();
  fd_.close();
  expect_nothing();
}

size_t Socket::unacknowledged_bytes() const {
  int bytes = 0;
  if (::ioctl(fd(), SIOCOUTQ, &bytes) != 0 || bytes < 0) return 0;
  return static_cast<size_t>(bytes);
}

bool Socket::shut_writes(bool closes) {
  if (Layer* layer = find_layer()) return layer->shut_writes(*this);
  if (!closes) shut_writes_below();
  return true;
}

void Socket::shut_writes_below() {
  ::shutdown(fd(), SHUT_WR);
}

void Socket::reset() {
  leave_ring();
  reset_and_close(std::move(fd_));
  close();
}

}  // namespace headrace::net
