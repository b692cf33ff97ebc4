// A tunnel: two directions between a client and an upstream, with half-close kept and reset passed
// on. A function that may be called again, whenever something happened to either socket; it ends by
// saying how. It owns neither socket.
#pragma once

#include <cstdint>
#include <optional>

#include "base/error.h"
#include "net/socket.h"
#include "relay/direction.h"

namespace headrace::relay {

// How a tunnel stands after a step.
struct Progress {
  enum class Kind : uint8_t {
    waiting,    // for an event
    again,      // budget spent: run it again after the others
    parked,     // received: run it again in the second phase of the turn
    completed,  // both ends were passed on
    broken,     // one side failed: reset the other
  };
  Kind kind;
  std::optional<Error> error;  // of broken
};

class Relay {
 public:
  void start(SpliceMode splice);
  // Bytes that a side sent before the tunnel stood; they go first.
  void prepend_from_client(ByteSpan bytes) { up_.direction.prepend(bytes); }
  void prepend_from_upstream(ByteSpan bytes) { down_.direction.prepend(bytes); }

  Progress step(net::Socket& client, net::Socket& upstream, Mover& mover);
  // Gives back what is leased, at the end or before it.
  void abandon(Mover& mover);

  bool half_closed() const { return (up_.state == State::shut) != (down_.state == State::shut); }
  const Direction& up() const { return up_.direction; }      // client to upstream
  const Direction& down() const { return down_.direction; }  // upstream to client

 private:
  enum class State : uint8_t {
    open,
    shut,    // the source's end was passed on
    failed,  // its destination takes no more
  };
  struct Way {
    [[no_unique_address]] Direction direction;  // `state` lies in its padding
    State state = State::open;
  };

  // Its destination takes no more.
  void cut_off(Way& way);
  Want advance(Way& way, net::Socket& source, net::Socket& destination, Mover& mover);

  Way up_;
  Way down_;
};
static_assert(sizeof(Relay) <= 128);

}  // namespace headrace::relay
