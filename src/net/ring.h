// The io_uring engine. With epoll the kernel says that bytes are there, and a system call for each
// socket fetches them. The ring is told beforehand which sockets' bytes are wanted next; the kernel
// receives them into a few buffers that all share, and one system call a turn hands over all new
// wishes, waits, and brings everything that has come; another sends all small messages of a turn.
//
// epoll stays, for all else: listeners, sockets in set-up or in bulk, room to write, hang-ups. The
// ring watches the epoll descriptor for it. While nothing is wanted of the ring the loop waits
// with epoll alone, as if there were none.
//
// A receive is wanted once at a time, and again only when what it brought has been passed on: what
// nobody takes stays in the socket and holds up its sender.
//
// Owned by its loop, used on that thread. What was measured: docs/decisions/0011-io-uring.md.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "net/attachment.h"
#include "net/buffer.h"

struct io_uring;
struct io_uring_buf_ring;
struct io_uring_sqe;

namespace headrace::net {

class Loop;
class Ring;
class Watch;

// What was to be sent at the end of a turn, and the socket did not take.
struct Unsent {
  Residue bytes;
  int os_errno = 0;  // of a send that failed; else the socket is full
};

// What a socket has of the ring: a receive under way, or what it brought, and a send. While `ahead`
// it is the ring that receives, and epoll does not tell what is to be read.
struct Arrival final : Attachment {
  Arrival(Ring& the_ring, Watch& of, int its_fd) : ring(the_ring), watch(&of), fd(its_fd) {}

  Ring& ring;
  Watch* watch;  // none once the socket was closed with the receive under way
  std::unique_ptr<Unsent> unsent;
  int fd;
  int result = 0;  // bytes received, 0 for the end, or -errno
  uint16_t buffer = 0;
  uint16_t taken_bytes = 0;
  bool ahead = true;
  bool submitted = false;  // the receive under way
  bool here = false;       // a receive has ended, and something of what it brought is not taken yet
  bool more = false;       // there may be more in the socket
  bool departing = false;  // a send waits for the end of the turn
};
static_assert(sizeof(Arrival) <= 56);

class Ring {
 public:
  // What one receive brings at most.
  static constexpr unsigned kBufferBytes = 4096;
  // Filled and not yet emptied at one time; a socket that finds none is told of as by epoll.
  static constexpr unsigned kBuffers = 128;

  // The errno of what the kernel does not have, or does not grant.
  static Result<std::unique_ptr<Ring>> create(Loop& loop, int epoll_fd);
  ~Ring();
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  Loop& loop() { return loop_; }

  // From the next turn on the ring receives what comes next, once. Its watch is not readable until
  // that is done.
  void receive(Arrival& arrival);
  // The receive under way is to end now, with or without bytes.
  void cancel(Arrival& arrival);
  // The bytes that are here; taking the last of them ends the arrival.
  ByteSpan bytes(const Arrival& arrival) const;
  void take(Arrival& arrival, size_t bytes);
  // Sends when the turn ends. The bytes stay where they are
  // until sending() is over; what the socket does not take is then kept as `unsent`, and its owner
  // runs. False when there are too many already.
  bool send(Arrival& arrival, ByteSpan bytes);
  bool sending() const { return !departures_.empty(); }

  // Its socket closes: what is here or was to be sent is lost, what is under way comes to nothing.
  static void abandon(std::unique_ptr<Arrival> arrival);

  // Something is wanted of it, so that the loop has to wait here.
  bool in_use() const { return in_flight_ > 0 || !wanted_.empty(); }
  // Sends what is queued; for the end of a turn.
  void send_all();
  // Hands over what is wanted, waits so long (milliseconds, negative: without limit) for anything
  // to happen, and makes ready the owners of what has come. True when epoll has events.
  bool turn(int wait_milliseconds);
  // What the last turn found.
  int completions() const { return completions_; }

 private:
  struct Departure {
    Arrival* arrival;  // none once its socket was closed
    ByteSpan bytes;
  };

  Ring(Loop& loop, int epoll_fd);
  Result<Done> open();
  void enable();
  io_uring_sqe& next_entry();
  void submit_departures();
  void submit_wishes();
  void submit_all();
  void take_completions();
  void complete(Arrival& arrival, int result, unsigned flags);
  void complete(const Departure& departure, int result);
  void give_back(uint16_t buffer);

  Loop& loop_;
  const int epoll_fd_;
  std::unique_ptr<io_uring> ring_;
  io_uring_buf_ring* free_buffers_ = nullptr;  // shared with the kernel
  std::unique_ptr<uint8_t[]> buffers_;
  // Entries name sockets by descriptor, so they are written only in turn(), where none closes.
  std::vector<Arrival*> wanted_;
  std::vector<Arrival*> unwanted_;
  std::vector<Departure> departures_;
  size_t departed_ = 0;  // of departures_
  size_t in_flight_ = 0;
  int completions_ = 0;
  bool enabled_ = false;
  bool watches_epoll_ = false;
  bool epoll_has_events_ = false;
};

}  // namespace headrace::net
