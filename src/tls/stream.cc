#include "tls/stream.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "tls/kernel.h"
#include "tls/records.h"

namespace headrace::tls {
namespace {

using net::IoResult;
using Kind = IoResult::Kind;

// How the two ends that are ours to tell look to those who only know sockets (base/error.cc).
constexpr int kCutShort = ECONNABORTED;
constexpr int kBroken = EBADMSG;

constexpr net::Duration kEndPeriod = std::chrono::milliseconds(8);
// A record with its head and the most that encryption may add (RFC 5246 section 6.2.3).
constexpr size_t kRecordCipherBytesMax = 5 + Workspace::kRecordBytes + 2048;

IoResult moved(size_t bytes) {
  return {Kind::moved, 0, bytes};
}

// Handshake messages, and nothing but tickets.
bool are_tickets(ByteSpan messages) {
  constexpr size_t kHeadBytes = 4;
  while (messages.size() >= kHeadBytes && messages[0] == kNewSessionTicket) {
    const size_t length = static_cast<size_t>(messages[1]) << 16 | messages[2] << 8 | messages[3];
    if (length > messages.size() - kHeadBytes) return false;
    messages = messages.subspan(kHeadBytes + length);
  }
  return messages.empty();
}

ByteSpan bytes_of(const iovec& piece) {
  return {static_cast<const uint8_t*>(piece.iov_base), piece.iov_len};
}

}  // namespace

Stream::Handshake Stream::fail_handshake(Errc what, const char* text) {
  failure_ = what;
  failure_text_ = text;
  end_ = End::failed;
  os_errno_ = kBroken;
  return Handshake::failed;
}

Stream::Handshake Stream::shake_hands(net::Socket& socket) {
  for (;;) {
    IoResult flushed = flush(socket, false);
    if (flushed.failed()) return fail_handshake(Errc::reset, "the connection was reset");
    if (flushed.blocked()) return Handshake::waiting;
    net::Residue held = std::move(incoming_);
    incoming_.clear();
    ByteSpan input = held.bytes();
    if (!speaks_first_) {
      if (input.empty()) {
        if (!socket.readable()) return Handshake::waiting;
        IoResult in = socket.receive_below(workspace_.cipher_buffer());
        if (in.blocked()) return Handshake::waiting;
        if (in.failed()) return fail_handshake(errc_of_errno(in.os_errno), "the connection failed");
        if (in.ended()) return fail_handshake(Errc::ended, "the connection ended in the handshake");
        input = ByteSpan(workspace_.cipher_buffer()).first(in.bytes);
      }
      if (!begun_ && input[0] != kHandshakeRecord && input[0] != kAlertRecord) {
        first_byte_ = input[0];
        fail_handshake(Errc::tls_failed, "what came is no TLS");
        return Handshake::not_tls;
      }
      begun_ = true;
    }
    speaks_first_ = false;
    Step step = engine_.shake_hands(input);
    if (step == Step::done) {
      incoming_.append(input);
      begin_data(socket);
      return Handshake::done;
    }
    flushed = flush(socket, false);
    if (step != Step::needs_input)
      return fail_handshake(
          engine_.certificate_refused() ? Errc::certificate_refused : Errc::tls_failed, nullptr);
  }
}

void Stream::begin_data(net::Socket& socket) {
  const bool of_tickets = engine_.output_may_wait();
  if (!of_tickets) (void)flush(socket, false);  // what fails here fails at the next send
  if (offload_) offload_->begin(engine_.suite());
  if (of_tickets) hold_tickets();
  if (!incoming_.empty() || engine_.pending()) socket.mark_readable();
}

// Nobody waits for a ticket, so it goes with the first bytes that do: a send and a packet less.
void Stream::hold_tickets() {
  if (offload_) offload_->count(Way::sending, workspace_.output());
  outgoing_.append(workspace_.output());
  workspace_.output().clear();
  if (!outgoing_.empty()) tickets_ = Tickets::held;
}

// A client that sends more before it is answered may never be: its tickets wait no longer.
void Stream::release_tickets(net::Socket& socket) {
  if (tickets_ == Tickets::held) {
    tickets_ = Tickets::overdue;
    return;
  }
  tickets_ = Tickets::none;
  (void)flush(socket, false);  // what fails here fails at the next send
}

IoResult Stream::end_result() const {
  if (end_ == End::closed) return {Kind::ended, 0, 0};
  return {Kind::failed, os_errno_, 0};
}

void Stream::note_failure(int os_errno) {
  end_ = End::failed;
  os_errno_ = os_errno;
}

void Stream::pay(size_t cipher_bytes, size_t plain_bytes) {
  const size_t unpaid_bytes = barren_bytes_ + cipher_bytes;
  barren_bytes_ = unpaid_bytes - std::min(unpaid_bytes, plain_bytes * kBytesPaidByOne);
  if (barren_bytes_ > kBarrenBytesMax) note_failure(kBroken);
}

IoResult Stream::receive(net::Socket& socket, MutableByteSpan buffer) {
  if (kernel_receives_) return receive_by_kernel(socket, buffer);
  while (end_ == End::open) {
    net::Residue held = std::move(incoming_);
    incoming_.clear();
    ByteSpan input = held.bytes();
    if (held.empty() && !engine_.pending()) {
      MutableByteSpan cipher = workspace_.cipher_buffer();
      // So much that what cannot be given out at once is not much.
      size_t room = std::min(cipher.size(), std::max(buffer.size(), kRecordCipherBytesMax));
      if (offload_ && offload_->wanted(Way::receiving)) {
        const size_t missing = offload_->missing_bytes(Way::receiving);
        if (missing == 0 && hand_over(Way::receiving, socket))
          return receive_by_kernel(socket, buffer);
        if (missing > 0) room = missing;  // the kernel begins with a whole record
      }
      IoResult in = socket.receive_below(cipher.first(room));
      if (in.blocked()) return in;
      if (in.moved())
        input = cipher.first(in.bytes);
      else
        note_failure(in.ended() ? kCutShort : in.os_errno);
      if (!in.moved()) break;
    }
    const ByteSpan given = input;
    size_t bytes = 0;
    const Step step = engine_.read(input, buffer, bytes);
    const ByteSpan taken = given.first(given.size() - input.size());
    if (step == Step::done) incoming_.append(input);
    if (step == Step::closed) end_ = End::closed;
    if (step == Step::failed) note_failure(kBroken);
    pay(taken.size(), bytes);
    if (!workspace_.output().empty()) answer(socket);
    if (kernel_sends_ && offload_->owes_key_update()) refuse_key_update();
    if (offload_) {
      offload_->count(Way::receiving, taken);
      offload_->note_moved(Way::receiving, bytes);
    }
    if (bytes == 0) continue;
    if (tickets_ != Tickets::none) release_tickets(socket);
    if (end_ != End::open || !incoming_.empty() || engine_.pending()) socket.mark_readable();
    return moved(bytes);
  }
  return end_result();
}

// What reading has made the library write: an answer to a KeyUpdate, an alert.
void Stream::answer(net::Socket& socket) {
  if (kernel_sends_) {
    workspace_.output().clear();  // an alert: the library does not know which record is next
    note_failure(kBroken);
    return;
  }
  answer_bytes_ += static_cast<uint32_t>(workspace_.output().size());
  if (flush(socket, false).moved()) answer_bytes_ = 0;
  if (answer_bytes_ > kAnswerBytesMax) note_failure(kBroken);
}

IoResult Stream::flush(net::Socket& socket, bool more) {
  std::vector<uint8_t>& output = workspace_.output();
  if (offload_) offload_->count(Way::sending, output);
  if (!outgoing_.empty()) {
    outgoing_.append(output);
    output.clear();
    while (!outgoing_.empty()) {
      if (!socket.writable()) return {Kind::blocked, 0, 0};
      IoResult out = socket.send_below(outgoing_.bytes(), more);
      if (!out.moved()) return out;
      outgoing_.consume(out.bytes);
    }
    return moved(0);
  }
  if (output.empty()) return moved(0);
  IoResult out = socket.send_below(output, more);
  const size_t sent = out.moved() ? out.bytes : 0;
  if (!out.failed()) outgoing_.append(ByteSpan(output).subspan(sent));
  output.clear();
  if (out.failed() || outgoing_.empty()) return out;
  return {Kind::blocked, 0, 0};
}

// Pieces of one message become one record where they fit.
bool Stream::encrypt(std::span<const iovec> pieces, size_t skipped_bytes) {
  MutableByteSpan record = workspace_.record_buffer();
  size_t filled = 0;
  for (const iovec& piece : pieces) {
    ByteSpan bytes = bytes_of(piece);
    const size_t skipped = std::min(skipped_bytes, bytes.size());
    skipped_bytes -= skipped;
    bytes = bytes.subspan(skipped);
    if (bytes.empty()) continue;
    if (pieces.size() == 1) return engine_.write(bytes);
    if (filled > 0 && filled + bytes.size() > record.size()) {
      if (!engine_.write(record.first(filled))) return false;
      filled = 0;
    }
    if (bytes.size() > record.size()) {
      if (!engine_.write(bytes)) return false;
      continue;
    }
    std::memcpy(record.data() + filled, bytes.data(), bytes.size());
    filled += bytes.size();
  }
  return filled == 0 || engine_.write(record.first(filled));
}

IoResult Stream::send(net::Socket& socket, std::span<const iovec> pieces, bool more) {
  if (end_ == End::failed) return end_result();
  if (!socket.writable()) return {Kind::blocked, 0, 0};
  if (kernel_sends_) return send_by_kernel(socket, pieces);
  if (tickets_ == Tickets::none) {
    IoResult flushed = flush(socket, more);
    if (!flushed.moved()) return flushed;
  }
  tickets_ = Tickets::none;

  size_t total = 0;
  for (const iovec& piece : pieces) total += piece.iov_len;
  const size_t reported = std::min(owed_bytes_, total);
  owed_bytes_ -= reported;
  const size_t fresh = total - reported;
  if (fresh == 0) return moved(reported);
  if (offload_ && offload_->wanted(Way::sending) && reported == 0 && outgoing_.empty() &&
      hand_over(Way::sending, socket))
    return send_by_kernel(socket, pieces);
  if (!encrypt(pieces, reported)) {
    note_failure(kBroken);
    return end_result();
  }
  IoResult out = flush(socket, more);
  if (out.failed()) return out;
  if (offload_) offload_->note_moved(Way::sending, fresh);
  owed_bytes_ = std::min(fresh, outgoing_.size());
  return moved(total - owed_bytes_);
}

bool Stream::hand_over(Way way, net::Socket& socket) {
  const bool taken = offload_->hand_over(way, socket.fd());
  if (!taken)
    workspace_.stats.kernel_refused.add();
  else if (way == Way::receiving)
    workspace_.stats.kernel_receives.add();
  else
    workspace_.stats.kernel_sends.add();
  (way == Way::receiving ? kernel_receives_ : kernel_sends_) = taken;
  return taken;
}

IoResult Stream::receive_by_kernel(net::Socket& socket, MutableByteSpan buffer) {
  while (end_ == End::open) {
    uint8_t record_type = kDataRecord;
    const IoResult in = kernel::receive(socket, buffer, record_type);
    if (in.blocked()) return in;
    if (!in.moved()) {
      const bool bad_record = in.os_errno == EMSGSIZE || in.os_errno == EINVAL;
      note_failure(in.ended() ? kCutShort : bad_record ? kBroken : in.os_errno);
    } else if (record_type == kDataRecord) {
      pay(0, in.bytes);
      if (tickets_ != Tickets::none) release_tickets(socket);
      return in;
    } else {
      take_control_record(record_type, ByteSpan(buffer).first(in.bytes));
      pay(in.bytes, 0);
    }
  }
  return end_result();
}

void Stream::take_control_record(uint8_t record_type, ByteSpan content) {
  const bool alert = record_type == kAlertRecord && content.size() == 2;
  if (alert && content[1] == kCloseNotify) {
    end_ = End::closed;
    return;
  }
  if (record_type == kHandshakeRecord && are_tickets(content)) return;
  if (record_type == kHandshakeRecord) return refuse_key_update();
  note_failure(kBroken);
}

// The kernel cannot go on with another key.
void Stream::refuse_key_update() {
  if (end_ == End::open) workspace_.stats.kernel_key_updates.add();
  note_failure(kBroken);
}

// Each call makes records of its own: what may follow is not waited for.
IoResult Stream::send_by_kernel(net::Socket& socket, std::span<const iovec> pieces) {
  return socket.send_below(pieces, false);
}

// The kernel keeps the records that TCP had no room for, the close_notify the last of them, and
// hands them over when there is room; where TCP's end is said before, they are lost. Nothing tells
// of them. But room comes long before everything is acknowledged: when that has happened, none is
// left. Should one be all the same, it is the close_notify that is missing, and the other side sees
// a cut.
bool Stream::shut_kernel_writes(net::Socket& socket) {
  if (!close_made_ && end_ != End::failed) {
    if (!socket.writable()) return false;
    const IoResult sent = kernel::send_alert(socket, kWarningLevel, kCloseNotify);
    if (sent.blocked()) return false;
    close_made_ = true;
    if (sent.moved()) {
      end_wait_ = std::make_unique<net::Alarm>(workspace_.loop(), socket);
      end_wait_->arm(kEndPeriod);
    }
  }
  if (end_wait_) {
    if (!end_wait_->rang()) return false;
    if (socket.unacknowledged_bytes() != 0) {
      end_wait_->arm(kEndPeriod);
      return false;
    }
    end_wait_.reset();
  }
  socket.shut_writes_below();
  return true;
}

bool Stream::shut_writes(net::Socket& socket) {
  if (kernel_sends_) return shut_kernel_writes(socket);
  if (!close_made_ && end_ != End::failed) {
    engine_.close();
    close_made_ = true;
  }
  // The end of the connection follows in the same packet.
  if (flush(socket, true).blocked()) return false;
  socket.shut_writes_below();
  return true;
}

}  // namespace headrace::tls
