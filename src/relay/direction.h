// One way of a connection: moves bytes from one socket to another until one of them would block,
// then says what to wait for. Called again whenever either end became ready; owns nothing while
// idle.
//
// Three states, changed only while nothing of the direction is queued (design.md section 5):
//
//   copy    receive into the worker's shared buffer, send at once; a short send leaves a residue,
//   and
//           no more is read until it is gone.      two reads in a row of kBulkReadBytes or more ->
//           bulk
//   bulk    lease a pipe, splice in, splice out, give it back empty.
//                                                  three transfers in a row under that -> copy
//   over    the source's end (or the limit) was reached and everything has left
#pragma once

#include <cstdint>
#include <memory>

#include "net/buffer.h"
#include "net/socket.h"
#include "relay/mover.h"
#include "relay/options.h"

namespace headrace::relay {

enum class Want : uint8_t {
  read,    // the source has no more for now
  write,   // the destination is full
  again,   // the budget is spent; others first
  parked,  // received, to be sent in the second phase of the turn: call again then
  over,    // everything up to the end, or the limit, has been passed on
  source_failed,
  destination_failed,
};

class Direction {
 public:
  static constexpr uint64_t kNoLimit = UINT64_MAX;
  // From here on a read counts as bulk; a body of known length below it is never spliced.
  static constexpr size_t kBulkReadBytes = 16 * 1024;
  // A body of known length starts in bulk from here on.
  static constexpr uint64_t kBulkBodyBytes = 64 * 1024;
  static constexpr int kReadsToBulk = 2;
  static constexpr int kReadsToCopy = 3;
  // What a record of TLS may take up in a pipe, however few bytes it has: a page for each fragment
  // of a packet, and one for what stands before them.
  static constexpr size_t kRecordPipeBytes = size_t{18} * 4096;
  // What one call may do before the other sessions get their turn.
  static constexpr size_t kBudgetBytes = 1024 * 1024;
  static constexpr int kBudgetReads = 4;

  Direction() = default;
  Direction(const Direction&) = delete;
  Direction& operator=(const Direction&) = delete;

  // Starts anew: moves `limit_bytes` bytes, or everything up to the source's end. What push() has
  // queued before, an interim answer say, still leaves first. `fin_follows` promises that the
  // destination is half-closed or closed as soon as the direction is over: then the last bytes wait
  // for the FIN, and both leave in one segment.
  void start(uint64_t limit_bytes, SpliceMode splice, bool fin_follows = false);
  // Takes the promise back: the destination will be reset instead.
  void expect_no_fin() { fin_follows_ = false; }
  // Bytes that were received before the relay began; they leave first. They do not count to the
  // limit.
  void prepend(ByteSpan bytes) { residue_.append(bytes); }

  Want pump(net::Socket& source, net::Socket& destination, Mover& mover);
  // Sends bytes that are at hand, in one call where the socket takes them; what it does not take is
  // kept and leaves first. They do not count to the limit. False when the destination failed.
  bool push(net::Socket& destination, std::span<const ByteSpan> pieces);
  // The same, but what is short waits for the second phase of the turn; then the next pump() or
  // drain() says parked.
  bool park_or_push(net::Socket& destination, std::span<const ByteSpan> pieces, Mover& mover);
  // Sends what is queued: write, parked, destination_failed, or again when all has left.
  Want drain(net::Socket& destination, Mover& mover);
  // What push() and prepend() have queued.
  ByteSpan queued() const { return residue_.bytes(); }
  // Gives back what is leased; bytes not yet passed on are lost.
  void abandon(Mover& mover);

  // Nothing received waits for the destination.
  bool idle() const { return parked_bytes_ == 0 && residue_.empty() && !pipe_; }
  // The source has ended its side (with no limit), or the limit was reached.
  bool source_ended() const { return source_ended_; }
  uint64_t moved_bytes() const { return moved_bytes_; }
  uint64_t remaining_bytes() const { return remaining_bytes_; }
  // Some bytes went through a pipe.
  bool has_spliced() const { return has_spliced_; }
  // What failed, after source_failed or destination_failed.
  int os_errno() const { return os_errno_; }

 private:
  enum class State : uint8_t { copy, bulk };

  Want copy_once(net::Socket& source, net::Socket& destination, Mover& mover);
  Want splice_once(net::Socket& source, net::Socket& destination, Mover& mover);
  void take_announced_end(net::Socket& source, Mover& mover);
  Want send_or_keep(ByteSpan bytes, net::Socket& destination);
  void note_received(size_t bytes);
  Want note_end();
  // What is sent now are the last bytes, and FIN is next.
  bool fin_is_next() const { return fin_follows_ && source_ended_ && residue_.empty(); }
  void maybe_change_state();

  std::unique_ptr<net::Pipe> pipe_;
  net::Residue residue_;
  uint64_t moved_bytes_ = 0;
  uint64_t remaining_bytes_ = 0;
  uint32_t parked_begin_ = 0;  // in the mover's buffer
  uint32_t parked_bytes_ = 0;
  int os_errno_ = 0;
  State state_ = State::copy;
  SpliceMode splice_ = SpliceMode::automatic;
  uint8_t streak_ = 0;  // reads in a row that speak for the other state
  bool source_ended_ = false;
  bool source_failed_ = false;  // behind bytes that are still to leave
  bool fin_follows_ = false;
  bool has_spliced_ = false;
};
static_assert(sizeof(Direction) <= 64);

}  // namespace headrace::relay
