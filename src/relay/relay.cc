#include "relay/relay.h"

namespace headrace::relay {

void Relay::start(SpliceMode splice) {
  up_.direction.start(Direction::kNoLimit, splice, true);
  down_.direction.start(Direction::kNoLimit, splice, true);
}

void Relay::abandon(Mover& mover) {
  up_.direction.abandon(mover);
  down_.direction.abandon(mover);
}

Want Relay::advance(Way& way, net::Socket& source, net::Socket& destination, Mover& mover) {
  if (way.state != State::open) return Want::over;
  Want want = way.direction.pump(source, destination, mover);
  bool cut = up_.state == State::failed || down_.state == State::failed;
  if (want == Want::over && !cut) {
    const bool closes = up_.state == State::shut || down_.state == State::shut;
    if (!destination.shut_writes(closes)) return Want::write;
    way.state = State::shut;
  }
  if (want == Want::destination_failed) cut_off(way);
  return want;
}

void Relay::cut_off(Way& way) {
  way.state = State::failed;
  up_.direction.expect_no_fin();
  down_.direction.expect_no_fin();
}

// A side that reset the connection has often just sent its last bytes. So a failed write does not
// end the tunnel at once: what that side sent is passed on first, without a clean end. A failed
// read does: nothing is left on that side to be read, and nobody to write to.
Progress Relay::step(net::Socket& client, net::Socket& upstream, Mover& mover) {
  auto broken = [](const Way& way, Side whose) {
    int os_errno = way.direction.os_errno();
    return Progress{Progress::Kind::broken, Error{errc_of_errno(os_errno), whose, os_errno}};
  };
  bool already_cut = up_.state == State::failed || down_.state == State::failed;

  // First of all: a failed send may have used up the error that a read would have told, and the
  // read then looks like an end.
  if (!up_.direction.take_unsent(upstream)) cut_off(up_);
  if (!down_.direction.take_unsent(client)) cut_off(down_);
  Want up = advance(up_, client, upstream, mover);
  if (up == Want::source_failed) return broken(up_, Side::client);
  Want down = advance(down_, upstream, client, mover);
  if (down == Want::source_failed) return broken(down_, Side::upstream);
  // A side that has ended is not read any more, so a reset behind its end shows here alone.
  auto reset_by = [](Side whose) {
    return Progress{Progress::Kind::broken, Error{Errc::reset, whose}};
  };
  if (up_.state == State::shut && client.faulty()) return reset_by(Side::client);
  if (down_.state == State::shut && upstream.faulty()) return reset_by(Side::upstream);

  if (up_.state == State::failed || down_.state == State::failed) {
    if (!already_cut) return {Progress::Kind::again, std::nullopt};
    const Want rest = up_.state == State::failed ? down : up;
    if (rest == Want::again) return {Progress::Kind::again, std::nullopt};
    if (rest == Want::parked) return {Progress::Kind::parked, std::nullopt};
    const net::Socket& source = up_.state == State::failed ? upstream : client;
    if (rest == Want::write || source.receiving()) return {Progress::Kind::waiting, std::nullopt};
    return up_.state == State::failed ? broken(up_, Side::upstream) : broken(down_, Side::client);
  }
  if (up_.state == State::shut && down_.state == State::shut)
    return {Progress::Kind::completed, std::nullopt};
  if (up == Want::parked || down == Want::parked) return {Progress::Kind::parked, std::nullopt};
  bool again = up == Want::again || down == Want::again;
  return {again ? Progress::Kind::again : Progress::Kind::waiting, std::nullopt};
}

}  // namespace headrace::relay
