#include "session/body_mover.h"

#include <algorithm>
#include <array>

namespace headrace::session {

using relay::Want;

bool BodyMover::start(const Message& message, net::Socket& destination, relay::SpliceMode splice,
                      relay::Mover& mover) {
  using Kind = http::BodyLength::Kind;
  const http::BodyLength body = message.body;
  MutableByteSpan received = message.received;
  if (body.kind == Kind::chunked) {
    chunked_.emplace(message.output);
    return take_chunks(message.head, received, destination, mover);
  }
  uint64_t length = body.kind == Kind::until_close ? relay::Direction::kNoLimit
                    : body.kind == Kind::length    ? body.bytes
                                                   : 0;
  MutableByteSpan own =
      received.first(static_cast<size_t>(std::min<uint64_t>(received.size(), length)));
  moved_bytes_ = own.size();
  bool unlimited = length == relay::Direction::kNoLimit;
  direction_.start(unlimited ? length : length - own.size(), splice, message.ends_connection);
  const std::array<ByteSpan, 2> pieces{as_bytes(message.head), own};
  return direction_.park_or_push(destination, pieces, mover);
}

bool BodyMover::push(std::string_view text, net::Socket& destination) {
  const std::array<ByteSpan, 1> pieces{as_bytes(text)};
  return direction_.push(destination, pieces);
}

Want BodyMover::pump(net::Socket& source, net::Socket& destination, relay::Mover& mover) {
  if (chunked_) return pump_chunks(source, destination, mover);
  return direction_.pump(source, destination, mover);
}

bool BodyMover::take_chunks(std::string_view head, MutableByteSpan received,
                            net::Socket& destination, relay::Mover& mover) {
  http::ChunkedBody::Step step = chunked_->apply(received);
  moved_bytes_ += step.consumed_bytes;
  malformed_ = step.state == http::ChunkedBody::State::failed;
  const std::array<ByteSpan, 3> pieces{as_bytes(head), received.first(step.output_bytes),
                                       as_bytes(chunked_->tail())};
  return direction_.park_or_push(destination, pieces, mover);
}

Want BodyMover::pump_chunks(net::Socket& source, net::Socket& destination, relay::Mover& mover) {
  for (int reads = 0; reads < relay::Direction::kBudgetReads; ++reads) {
    Want drained = direction_.drain(destination, mover);
    if (drained != Want::again) return drained;
    if (malformed_) return Want::source_failed;
    if (chunked_->ended()) return Want::over;
    if (!source.readable()) return Want::read;
    MutableByteSpan scratch = mover.scratch();
    net::IoResult in = source.receive(scratch);
    if (in.blocked()) return Want::read;
    if (!in.moved()) return Want::source_failed;  // ended or failed: the body is cut either way
    mover.copied_bytes += in.bytes;
    uint64_t moved_before = moved_bytes_;
    bool sent = take_chunks({}, scratch.first(in.bytes), destination, mover);
    surplus.append(scratch.first(in.bytes).subspan(moved_bytes_ - moved_before));
    if (!sent) return Want::destination_failed;
  }
  if (finished() && !malformed_) return Want::over;
  return Want::again;
}

}  // namespace headrace::session
