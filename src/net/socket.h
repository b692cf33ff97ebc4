// A connected, non-blocking stream socket in the worker's loop. It owns the descriptor, knows its
// readiness, and turns system calls into IoResults.
//
// This is the stream that the relay and the front ends speak to. A Layer (TLS) may stand between
// them and the descriptor; then bytes given and taken are those of the layer, and the stream says
// whether it can be spliced. Nothing else needs to know.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "net/endpoint.h"
#include "net/loop.h"

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
class Layer {
 public:
  virtual ~Layer() = default;
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
  // Moves bytes between the socket and a pipe inside the kernel. `blocked` from splice_in means
  // that nothing has been received, so the pipe must have room (it is empty when the relay asks).
  // It does not get past urgent data, nor past what a layer has to look at; then it reports an end
  // that may be none: receive() knows.
  IoResult splice_in(int pipe_write_end, size_t bytes_max);
  IoResult splice_out(int pipe_read_end, size_t bytes, bool more);
  bool can_splice_in() const { return !layer_ || layer_->can_splice_in(); }
  bool can_splice_out() const { return !layer_ || layer_->can_splice_out(); }
  // splice_in gives no more than a record of TLS at a time.
  bool splices_by_record() const { return static_cast<bool>(layer_); }

  // Sent, the end of writes included, and not acknowledged by the other side's kernel yet (of a
  // unix socket: not read). 0 of a socket that is gone.
  size_t unacknowledged_bytes() const;

  // Half-close: sends FIN behind what was sent. `closes` says that close() follows at once, which
  // does the same in one call less. False where a layer has something to send before it and the
  // socket is full: to be called again when it is writable.
  bool shut_writes(bool closes = false);
  void close() {
    fd_.close();
    expect_nothing();
  }
  // Closes with RST: whatever the other side has not received is lost, and it knows.
  void reset();

  // From now on the layer stands between the descriptor and everybody else.
  void add_layer(std::unique_ptr<Layer> layer) { layer_ = std::move(layer); }
  void remove_layer() { layer_.reset(); }
  const Layer* layer() const { return layer_.get(); }

  // For the layer: the same below it.
  IoResult receive_below(MutableByteSpan buffer);
  IoResult send_below(ByteSpan bytes, bool more);
  IoResult send_below(std::span<const iovec> pieces, bool more);
  // With a control message. A short read says nothing: what comes next may be of another kind.
  IoResult receive_below(msghdr& message);
  IoResult send_below(const msghdr& message);
  void shut_writes_below();
  void mark_readable() { assume_readable(); }

 private:
  IoResult result_of_read(ssize_t bytes, bool short_read);
  IoResult result_of_write(ssize_t bytes, bool short_write);

  UniqueFd fd_;
  std::unique_ptr<Layer> layer_;
};
static_assert(sizeof(Socket) <= 24);

}  // namespace headrace::net
