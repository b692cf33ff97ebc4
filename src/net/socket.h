// A connected, non-blocking stream socket in the worker's loop. It owns the descriptor, knows its
// readiness, and turns system calls into IoResults.
//
// This is the stream that the relay and the front ends speak to. A Layer (TLS) may stand between
// them and the descriptor; then bytes given and taken are those of the layer, and the stream says
// whether it can be spliced. Nothing else needs to know.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "net/attachment.h"
#include "net/buffer.h"
#include "net/endpoint.h"
#include "net/loop.h"
#include "net/ring.h"

namespace headrace::net {

// The outcome of one operation on a stream: bytes moved, or why none were.
struct IoResult {
  enum class Kind : uint8_t { moved, blocked, ended, failed };
  Kind kind = Kind::moved;
  int os_errno = 0;
  size_t bytes = 0;

  bool moved() const { return kind == Kind::moved; }
  bool blocked() const { return kind == Kind::blocked; }
  bool ended() const { return kind == Kind::ended; }
  bool failed() const { return kind == Kind::failed; }
  Error error(Side whose) const { return Error{errc_of_errno(os_errno), whose, os_errno}; }
};

// Closes a socket with RST: whatever the other side has not received is lost, and it knows. A plain
// close could look like an empty, complete stream.
void reset_and_close(UniqueFd fd);

class Socket;

// What turns the bytes of a socket into others on their way: TLS. It belongs to the socket, and
// does for it what the functions of the same name promise.
class Layer : public Attachment {
 public:
  // Reads with receive_below(). Where it holds bytes that the buffer had no room for, it marks the
  // socket as readable, since no event will tell of them.
  virtual IoResult receive(Socket& socket, MutableByteSpan buffer) = 0;
  // May have taken bytes that it does not report as moved yet: until it has, the next bytes given
  // to it begin with those again, as they would for any stream.
  virtual IoResult send(Socket& socket, std::span<const iovec> pieces, bool more) = 0;
  virtual bool shut_writes(Socket& socket) = 0;
  // Whether the kernel does what the layer does, for each way.
  virtual bool can_splice_in() const = 0;
  virtual bool can_splice_out() const = 0;
  // Who the other side has proved to be; empty where it was not asked.
  virtual std::string verified_name() const = 0;
};

class Socket : public Watch {
 public:
  using Watch::Watch;
  ~Socket() { close(); }

  bool is_open() const { return static_cast<bool>(fd_); }
  int fd() const { return fd_.get(); }

  // Takes a connected descriptor and registers it. On failure it is reset.
  Result<Done> open(Loop& loop, UniqueFd fd);
  // Receives what is there, up to the buffer. A short read has emptied the socket, so the next one
  // is only tried after a new event, unless the other side has hung up, when its end is still to be
  // seen, or has sent urgent data, at whose mark a read stops.
  IoResult receive(MutableByteSpan buffer);
  // Sends without waiting; a short result means that the socket is full. `more` says that further
  // bytes follow at once, so that the kernel may wait with a partly filled segment.
  IoResult send(ByteSpan bytes, bool more = false);
  IoResult send(std::span<const iovec> pieces, bool more = false);
  // Sends at the end of the turn, in one system call with others. The bytes stay where they are
  // until then, and nothing else is sent before. False where it has to be done by send().
  bool send_together(ByteSpan bytes);
  // It is not the end of the turn yet; and afterwards, that the socket has not taken all of it.
  bool departing() const { return arrival() && arrival()->departing; }
  bool has_unsent() const { return arrival() && arrival()->unsent; }
  // Puts what was not taken in front of what `waiting` holds; or tells why the send failed.
  IoResult take_unsent(Residue& waiting);
  // Moves bytes between the socket and a pipe inside the kernel. `blocked` from splice_in means
  // that nothing has been received, so the pipe must have room (it is empty when the relay asks).
  // It does not get past urgent data, and then reports an end that may be none: receive() knows.
  IoResult splice_in(int pipe_write_end, size_t bytes_max);
  IoResult splice_out(int pipe_read_end, size_t bytes, bool more);
  bool can_splice_in() const { return !layer() || layer()->can_splice_in(); }
  bool can_splice_out() const { return !layer() || layer()->can_splice_out(); }

  // Has the ring receive what comes next, once, instead of telling that something has come;
  // receive() then hands it out. For a socket at rest, that is not readable, and of which little at
  // a time is expected.
  void receive_ahead(Ring& ring);
  // Back to being told.
  void expect_event();
  // Bytes have been received ahead, and lie in a buffer that others wait for.
  bool holds_arrival() const { return holds_result() && arrival()->result > 0; }

  // Sent, the end of writes included, and not acknowledged by the other side's kernel yet (of a
  // unix socket: not read). 0 of a socket that is gone.
  size_t unacknowledged_bytes() const;

  // Half-close: sends FIN behind what was sent. `closes` says that close() follows at once, which
  // does the same in one call less. False where a layer has something to send before it and the
  // socket is full: to be called again when it is writable.
  bool shut_writes(bool closes = false);
  void close();
  // Closes with RST: whatever the other side has not received is lost, and it knows.
  void reset();

  // From now on the layer stands between the descriptor and everybody else. The ring then receives
  // nothing ahead.
  void add_layer(std::unique_ptr<Layer> layer) {
    HEADRACE_ASSERT(!arrival());
    attachment_ = std::move(layer);
  }
  void remove_layer() {
    if (find_layer()) attachment_.reset();
  }
  const Layer* layer() const { return find_layer(); }

  // For the layer: the same below it.
  IoResult receive_below(MutableByteSpan buffer);
  IoResult send_below(ByteSpan bytes, bool more);
  void shut_writes_below();
  void mark_readable() { assume_readable(); }

 private:
  IoResult result_of_read(ssize_t bytes, bool short_read);
  IoResult result_of_write(ssize_t bytes, bool short_write);
  Layer* find_layer() const { return by_ring() ? nullptr : static_cast<Layer*>(attachment_.get()); }
  Arrival* arrival() const {
    return by_ring() ? static_cast<Arrival*>(attachment_.get()) : nullptr;
  }
  bool holds_result() const { return arrival() && arrival()->here; }
  IoResult take_arrival(MutableByteSpan buffer);
  void leave_ring();

  UniqueFd fd_;
  std::unique_ptr<Attachment> attachment_;
};
static_assert(sizeof(Socket) <= 24);

}  // namespace headrace::net
