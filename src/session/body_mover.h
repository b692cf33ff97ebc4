// The body of one HTTP message on its way: of known length, chunked, or up to the end of the
// connection. Known lengths are left to the relay, which may splice them; chunks are looked at.
#pragma once

#include <optional>
#include <span>

#include "http/chunked.h"
#include "http/framing.h"
#include "net/buffer.h"
#include "relay/direction.h"

namespace headrace::session {

class BodyMover {
 public:
  struct Message {
    std::string_view head;
    http::BodyLength body;
    http::ChunkedBody::Output output;
    // Body bytes that came with the message's own head; they lie in memory that may be overwritten.
    MutableByteSpan received;
    bool ends_connection;  // the destination is closed behind it
  };

  // The head goes first, together with the body bytes at hand. What is behind the first
  // moved_bytes() of `received` is none of the body's and stays the caller's. False when the
  // destination failed.
  bool start(const Message& message, net::Socket& destination, relay::SpliceMode splice,
             relay::Mover& mover);
  relay::Want pump(net::Socket& source, net::Socket& destination, relay::Mover& mover);
  // Sends what is queued: write, parked, destination_failed, or again when all has left.
  relay::Want drain(net::Socket& destination, relay::Mover& mover) {
    return direction_.drain(destination, mover);
  }
  void abandon(relay::Mover& mover) { direction_.abandon(mover); }
  // Something that goes to the destination ahead of the message: an interim answer.
  bool push(std::string_view text, net::Socket& destination);

  // All of the body has been received, and what it became has left.
  bool finished() const { return body_ended() && direction_.idle(); }
  // Everything that was given to it for the destination has left.
  bool idle() const { return direction_.idle(); }
  ByteSpan queued() const { return direction_.queued(); }
  // Received by pump() behind the body: the client's next request, or what an upstream has no
  // business to send.
  net::Residue surplus;

  uint64_t moved_bytes() const { return moved_bytes_ + direction_.moved_bytes(); }
  bool has_spliced() const { return direction_.has_spliced(); }
  // After source_failed: the bytes themselves were wrong.
  bool malformed() const { return malformed_; }
  int os_errno() const { return direction_.os_errno(); }

 private:
  bool body_ended() const { return chunked_ ? chunked_->ended() : direction_.source_ended(); }
  // Decodes the body's part of `received` and sends; false when the destination failed. Sets
  // malformed_.
  bool take_chunks(std::string_view head, MutableByteSpan received, net::Socket& destination,
                   relay::Mover& mover);
  relay::Want pump_chunks(net::Socket& source, net::Socket& destination, relay::Mover& mover);

  relay::Direction direction_;
  std::optional<http::ChunkedBody> chunked_;
  uint64_t moved_bytes_ = 0;
  bool malformed_ = false;
};

}  // namespace headrace::session
