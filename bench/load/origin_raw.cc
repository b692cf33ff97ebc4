#include "origin_raw.h"

namespace headrace::load {

Served::Outcome SinkServed::serve() {
  size_t left = kServeTurnBytes;
  while (left > 0) {
    const IoResult got = stream_.discard(left);
    if (got.blocked()) return Outcome::waiting;
    if (!got.moved()) return Outcome::over;
    received_bytes_ += got.bytes;
    shared_.counts.bytes_in += got.bytes;
    left -= got.bytes;
  }
  return Outcome::more;
}

Served::Outcome SinkServed::on_tick() {
  if (received_bytes_ == 0) return Outcome::waiting;  // the stream has not begun
  if (report_sent_bytes_ == report_.size()) {
    for (size_t i = 0; i < report_.size(); ++i) {
      report_[i] = static_cast<uint8_t>(received_bytes_ >> (8 * i));
    }
    report_sent_bytes_ = 0;
  }
  return send_report() ? Outcome::waiting : Outcome::over;
}

// A report that does not go now goes with the next tick; false when the client is gone.
bool SinkServed::send_report() {
  const IoResult sent = stream_.write(std::span(report_).subspan(report_sent_bytes_));
  if (sent.moved()) report_sent_bytes_ += sent.bytes;
  return sent.moved() || sent.blocked();
}

Served::Outcome SourceServed::await_go() {
  uint8_t go;
  const IoResult got = stream_.read({&go, 1});
  if (got.blocked()) return Outcome::waiting;
  if (!got.moved()) return Outcome::over;
  is_going_ = true;
  return Outcome::more;
}

Served::Outcome SourceServed::serve() {
  if (!is_going_) {
    const Outcome outcome = await_go();
    if (!is_going_) return outcome;
  }
  size_t left = kServeTurnBytes;
  while (left > 0) {
    const IoResult sent = stream_.write_pattern(shared_.pattern, sent_bytes_, left);
    if (sent.blocked()) return Outcome::waiting;
    if (!sent.moved()) return Outcome::over;
    sent_bytes_ += sent.bytes;
    shared_.counts.bytes_out += sent.bytes;
    left -= sent.bytes;
  }
  return Outcome::more;
}

// Whether nothing is left to send. A broken stream is told by the read that follows.
bool EchoServed::flush() {
  while (residue_sent_bytes_ < residue_.size()) {
    const IoResult sent = stream_.write(std::span(residue_).subspan(residue_sent_bytes_));
    if (sent.blocked()) return false;
    if (!sent.moved()) break;
    residue_sent_bytes_ += sent.bytes;
  }
  residue_.clear();
  residue_sent_bytes_ = 0;
  return true;
}

Served::Outcome EchoServed::serve() {
  size_t moved = 0;
  while (moved < kServeTurnBytes) {
    if (!flush()) return Outcome::waiting;
    const IoResult got = stream_.read(shared_.scratch);
    if (got.blocked()) return Outcome::waiting;
    if (!got.moved()) return Outcome::over;
    moved += got.bytes;
    shared_.counts.bytes_in += got.bytes;
    const std::span<const uint8_t> bytes = shared_.scratch.first(got.bytes);
    const IoResult sent = stream_.write(bytes);
    const size_t sent_bytes = sent.moved() ? sent.bytes : 0;
    shared_.counts.bytes_out += got.bytes;
    residue_.assign(bytes.begin() + static_cast<ptrdiff_t>(sent_bytes), bytes.end());
    const bool is_emptied = is_emptied_by(got.bytes, shared_.scratch.size());
    if (is_emptied && residue_.empty()) return Outcome::waiting;
  }
  return Outcome::more;
}

}  // namespace headrace::load
