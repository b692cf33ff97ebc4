#include "relay/direction.h"

#include <algorithm>
#include <array>

namespace headrace::relay {

void Direction::start(uint64_t limit_bytes, SpliceMode splice, bool fin_follows) {
  HEADRACE_ASSERT(!pipe_);
  remaining_bytes_ = limit_bytes;
  moved_bytes_ = 0;
  os_errno_ = 0;
  splice_ = splice;
  streak_ = 0;
  source_ended_ = limit_bytes == 0;
  source_failed_ = false;
  fin_follows_ = fin_follows;
  has_spliced_ = false;
  if (limit_bytes < kBulkReadBytes) splice_ = SpliceMode::never;
  bool known_bulk = limit_bytes != kNoLimit && limit_bytes >= kBulkBodyBytes;
  bool bulk = splice_ == SpliceMode::always || (splice_ == SpliceMode::automatic && known_bulk);
  state_ = bulk ? State::bulk : State::copy;
}

void Direction::abandon(Mover& mover) {
  residue_.clear();
  if (parked_bytes_ != 0) {
    mover.unpark();
    parked_bytes_ = 0;
  }
  if (pipe_) mover.pipes.give_back(std::move(pipe_));
}

Want Direction::pump(net::Socket& source, net::Socket& destination, Mover& mover) {
  uint64_t end = moved_bytes_ + kBudgetBytes;
  for (int reads = 0; reads < kBudgetReads && moved_bytes_ < end; ++reads) {
    if (!idle()) {
      Want drained = drain(destination, mover);
      if (drained != Want::again) return drained;
    }
    if (source_failed_) return Want::source_failed;
    if (source_ended_) return Want::over;
    if (!source.readable()) return Want::read;
    bool splices = state_ == State::bulk && !source.urgent() && source.can_splice_in() &&
                   destination.can_splice_out();
    Want filled =
        splices ? splice_once(source, destination, mover) : copy_once(source, destination, mover);
    if (filled != Want::again) return filled;
  }
  if (!idle()) {
    Want drained = drain(destination, mover);
    if (drained != Want::again) return drained;
  }
  if (source_failed_) return Want::source_failed;
  if (source_ended_) return Want::over;
  return source.readable() ? Want::again : Want::read;
}

// The source's own end. With a limit, bytes are missing: the message was cut.
Want Direction::note_end() {
  if (remaining_bytes_ != kNoLimit) {
    os_errno_ = 0;
    return Want::source_failed;
  }
  source_ended_ = true;
  return Want::again;
}

void Direction::note_received(size_t bytes) {
  moved_bytes_ += bytes;
  if (remaining_bytes_ != kNoLimit) {
    remaining_bytes_ -= bytes;
    if (remaining_bytes_ == 0) source_ended_ = true;
  }
  if (splice_ != SpliceMode::automatic) return;
  bool large = bytes >= kBulkReadBytes;
  bool speaks_for_change = large == (state_ == State::copy);
  streak_ = speaks_for_change ? static_cast<uint8_t>(streak_ + 1) : uint8_t{0};
}

// Only while nothing is queued.
void Direction::maybe_change_state() {
  if (splice_ != SpliceMode::automatic) return;
  int needed = state_ == State::copy ? kReadsToBulk : kReadsToCopy;
  if (streak_ < needed) return;
  state_ = state_ == State::copy ? State::bulk : State::copy;
  streak_ = 0;
}

Want Direction::copy_once(net::Socket& source, net::Socket& destination, Mover& mover) {
  MutableByteSpan scratch = mover.scratch();
  size_t room = static_cast<size_t>(std::min<uint64_t>(scratch.size(), remaining_bytes_));
  net::IoResult in = source.receive(scratch.first(room));
  if (in.blocked()) return Want::read;
  if (in.ended()) return note_end();
  if (in.failed()) {
    os_errno_ = in.os_errno;
    return Want::source_failed;
  }
  note_received(in.bytes);
  mover.copied_bytes += in.bytes;
  uint32_t begin = mover.parked_end();
  if (in.bytes < kBulkReadBytes && mover.park(in.bytes)) {
    parked_begin_ = begin;
    parked_bytes_ = static_cast<uint32_t>(in.bytes);
    if (source.hung_up()) take_announced_end(source, mover);
    return Want::parked;
  }
  Want sent = send_or_keep(scratch.first(in.bytes), destination);
  if (sent == Want::again) maybe_change_state();
  return sent;
}

// The source will send no more. Found before what is parked leaves, its end leaves with it.
void Direction::take_announced_end(net::Socket& source, Mover& mover) {
  if (!fin_follows_ || remaining_bytes_ != kNoLimit) return;
  MutableByteSpan scratch = mover.scratch();
  net::IoResult in = source.receive(scratch);
  if (in.moved()) {
    note_received(in.bytes);
    mover.copied_bytes += in.bytes;
    residue_.append(scratch.first(in.bytes));
  } else if (in.ended()) {
    source_ended_ = true;
  } else if (in.failed()) {
    os_errno_ = in.os_errno;
    source_failed_ = true;
  }
}

Want Direction::send_or_keep(ByteSpan bytes, net::Socket& destination) {
  net::IoResult out = destination.send(bytes, fin_is_next());
  if (out.failed()) {
    os_errno_ = out.os_errno;
    return Want::destination_failed;
  }
  if (out.bytes == bytes.size()) return Want::again;
  residue_.prepend(bytes.subspan(out.bytes));  // before what was received behind it
  return Want::write;
}

Want Direction::splice_once(net::Socket& source, net::Socket& destination, Mover& mover) {
  if (!pipe_) pipe_ = mover.pipes.lease();
  if (!pipe_) {
    // None to be had. Who chooses by what the reads show begins anew; who must splice asks again in
    // the next round.
    if (splice_ == SpliceMode::automatic) state_ = State::copy;
    streak_ = 0;
    return copy_once(source, destination, mover);
  }
  const size_t room =
      static_cast<size_t>(std::min<uint64_t>(pipe_->capacity_bytes, remaining_bytes_));
  // A full pipe would look like an empty socket.
  const size_t calls_max = source.splices_by_record()
                               ? std::max<size_t>(1, pipe_->capacity_bytes / kRecordPipeBytes)
                               : 1;
  net::IoResult in;
  size_t filled = 0;
  for (size_t calls = 0; calls < calls_max && filled < room; ++calls) {
    in = source.splice_in(pipe_->write_end.get(), room - filled);
    if (!in.moved()) break;
    filled += in.bytes;
  }
  if (filled > 0) {
    pipe_->bytes = static_cast<uint32_t>(filled);
    has_spliced_ = true;
    mover.spliced_bytes += filled;
    note_received(filled);
    return Want::again;
  }
  mover.pipes.give_back(std::move(pipe_));
  if (in.blocked()) return Want::read;
  // Urgent data that came in this very moment looks like the end to splice(2).
  if (in.ended()) return copy_once(source, destination, mover);
  os_errno_ = in.os_errno;
  return Want::source_failed;
}

bool Direction::push(net::Socket& destination, std::span<const ByteSpan> pieces) {
  constexpr size_t kPiecesMax = 4;
  HEADRACE_ASSERT(pieces.size() <= kPiecesMax);
  size_t sent = 0;
  if (idle() && destination.writable()) {
    std::array<iovec, kPiecesMax> vector;
    size_t count = 0;
    for (ByteSpan piece : pieces)
      if (!piece.empty()) vector[count++] = {const_cast<uint8_t*>(piece.data()), piece.size()};
    if (count == 0) return true;
    net::IoResult out =
        destination.send(std::span<const iovec>(vector.data(), count), fin_is_next());
    if (out.failed()) {
      os_errno_ = out.os_errno;
      return false;
    }
    sent = out.bytes;
  }
  for (ByteSpan piece : pieces) {
    size_t skipped = std::min(sent, piece.size());
    residue_.append(piece.subspan(skipped));
    sent -= skipped;
  }
  return true;
}

bool Direction::park_or_push(net::Socket& destination, std::span<const ByteSpan> pieces,
                             Mover& mover) {
  size_t bytes = 0;
  for (ByteSpan piece : pieces) bytes += piece.size();
  if (bytes != 0 && bytes < kBulkReadBytes && idle()) {
    if (std::optional<uint32_t> begin = mover.park_copy(pieces)) {
      parked_begin_ = *begin;
      parked_bytes_ = static_cast<uint32_t>(bytes);
      return true;
    }
  }
  return push(destination, pieces);
}

Want Direction::drain(net::Socket& destination, Mover& mover) {
  if (parked_bytes_ != 0) {
    if (mover.parking) return Want::parked;
    Want sent = send_or_keep(mover.parked(parked_begin_, parked_bytes_), destination);
    parked_bytes_ = 0;
    mover.unpark();
    if (sent != Want::again) return sent;
  }
  while (!residue_.empty()) {
    if (!destination.writable()) return Want::write;
    net::IoResult out = destination.send(residue_.bytes(), pipe_ != nullptr);
    if (out.blocked()) return Want::write;
    if (out.failed()) {
      os_errno_ = out.os_errno;
      return Want::destination_failed;
    }
    residue_.consume(out.bytes);
  }
  while (pipe_ && !pipe_->empty()) {
    if (!destination.writable()) return Want::write;
    net::IoResult out = destination.splice_out(pipe_->read_end.get(), pipe_->bytes, false);
    if (out.blocked()) return Want::write;
    if (out.failed()) {
      os_errno_ = out.os_errno;
      return Want::destination_failed;
    }
    pipe_->bytes -= static_cast<uint32_t>(out.bytes);
  }
  if (pipe_) mover.pipes.give_back(std::move(pipe_));
  maybe_change_state();
  return Want::again;
}

}  // namespace headrace::relay
