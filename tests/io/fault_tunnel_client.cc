#include "base/bytes.h"
#include "fault_clients.h"

namespace headrace::io {
namespace {

using End = PlainSocket::End;
using Ending = TunnelPlan::Ending;
using Way = TunnelPlan::Way;

class TunnelClient final : public FaultClient {
 public:
  TunnelClient(const TunnelPlan& plan, const Places& places)
      : plan_(plan), expected_(down_bytes(plan.id, plan.down_bytes)) {
    socket_ = PlainSocket::connect_to(place(places));
    socket_.send(opening(places.origin));
    if (plan_.eager) start();
  }

  bool finished() const override { return finished_; }
  std::string state() const override {
    return "tunnel " + std::to_string(plan_.id) + " way " + std::to_string(int(plan_.way)) +
           " ending " + std::to_string(int(plan_.ending)) + " got " + std::to_string(got_bytes_) +
           " of " + std::to_string(plan_.down_bytes) + ", unsent " +
           std::to_string(socket_.unsent_bytes()) + (replied_ ? "" : ", no reply yet");
  }
  void step() override;

 private:
  net::Endpoint place(const Places& places) const {
    if (plan_.way == Way::relay) return places.relay;
    if (plan_.mixed) return places.mixed;
    return plan_.way == Way::connect ? places.http : places.socks;
  }
  std::string opening(const net::Endpoint& origin) const;
  size_t reply_bytes_left() const;
  // Takes the front's reply from what has come; false as long as it is not whole.
  bool take_reply();
  void start();
  void finish(Outcome outcome, std::string details = {}) {
    finished_ = true;
    socket_.close();
    conclude(plan_.id, outcome, std::move(details));
  }
  void take_end(End end);

  const TunnelPlan plan_;
  const std::string expected_;
  PlainSocket socket_;
  std::string in_;  // received and not yet looked at
  size_t got_bytes_ = 0;
  int steps_ = 0;
  bool replied_ = false;
  bool started_ = false;
  bool sent_last_ = false;
  bool finished_ = false;
};

std::string TunnelClient::opening(const net::Endpoint& origin) const {
  const std::string name = "o.test";
  std::string text;
  switch (plan_.way) {
    case Way::relay:
      break;
    case Way::connect: {
      const std::string host =
          plan_.by_name ? name + ":" + std::to_string(origin.port) : origin.to_string();
      return "CONNECT " + host + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n";
    }
    case Way::socks4a:
      text = "\x04\x01";
      append_u16(text, origin.port);
      text += plan_.by_name ? std::string("\0\0\0\1user\0", 9) + name + '\0'
                            : std::string("\x7f\0\0\1user\0", 9);
      break;
    case Way::socks5:
      text = std::string("\x05\x01\x00\x05\x01\x00", 6);
      text += plan_.by_name ? "\x03\x06" + name : std::string("\x01\x7f\0\0\1", 5);
      append_u16(text, origin.port);
      break;
  }
  return text;
}

// For SOCKS: the replies have their lengths.
size_t TunnelClient::reply_bytes_left() const {
  switch (plan_.way) {
    case Way::relay:
      return 0;
    case Way::connect:
      return 1;
    case Way::socks4a:
      return 8;
    case Way::socks5:
      return 2 + 10;
  }
  return 0;
}

bool TunnelClient::take_reply() {
  if (replied_) return true;
  size_t reply_bytes = reply_bytes_left();
  bool granted = true;
  switch (plan_.way) {
    case Way::relay:
      break;
    case Way::connect: {
      const size_t head = in_.find("\r\n\r\n");
      if (head == std::string::npos) return false;
      reply_bytes = head + 4;
      granted = in_.starts_with("HTTP/1.1 200 ");
      break;
    }
    case Way::socks4a:
      if (in_.size() < reply_bytes) return false;
      granted = in_[1] == 0x5a;
      break;
    case Way::socks5:
      if (in_.size() >= 4 && in_[3] != 0) {
        finish(Outcome::refused);
        return false;
      }
      if (in_.size() < reply_bytes) return false;
      break;
  }
  if (!granted) {
    finish(Outcome::refused);
    return false;
  }
  in_.erase(0, reply_bytes);
  replied_ = true;
  return true;
}

void TunnelClient::start() {
  started_ = true;
  std::string up = up_bytes(plan_.id, plan_.up_bytes);
  // A tenth is held back for after the other's end.
  if (plan_.ending == Ending::upstream_first) up.resize(up.size() - up.size() / 10);
  socket_.send("T " + std::to_string(plan_.id) + "\n" + up);
  if (plan_.ending != Ending::upstream_first && plan_.ending != Ending::client_resets)
    socket_.shut_writes();
}

void TunnelClient::step() {
  if (finished_) return;
  socket_.flush();
  socket_.receive(plan_.client_reads == 0 ? SIZE_MAX : plan_.client_reads);
  in_ += socket_.take();
  const End end = socket_.end_seen();
  ++steps_;
  if (take_reply()) {
    constexpr int kHesitation = 4;
    if (!started_ && (plan_.way != Way::relay || steps_ > kHesitation)) start();
    if (expected_.compare(got_bytes_, in_.size(), in_) != 0)
      return finish(Outcome::wrong, "wrong bytes behind " + std::to_string(got_bytes_));
    got_bytes_ += in_.size();
    in_.clear();
    if (plan_.ending == Ending::client_resets && got_bytes_ >= plan_.reset_after_bytes) {
      socket_.reset();
      return finish(Outcome::cut);
    }
  }
  if (!finished_ && end != End::open) take_end(end);
}

void TunnelClient::take_end(End end) {
  if (end == End::reset) return finish(Outcome::cut);
  // SOCKS and HTTP say that the tunnel stands, so without that nobody takes an end for one.
  if (!replied_) return finish(Outcome::refused);
  if (got_bytes_ != expected_.size())
    return finish(Outcome::wrong, "cut at " + std::to_string(got_bytes_) + ", and ended cleanly");
  if (plan_.ending == Ending::upstream_resets)
    return finish(Outcome::wrong, "the upstream's reset became a clean end");
  if (plan_.ending == Ending::upstream_first && !sent_last_) {
    sent_last_ = true;
    const std::string up = up_bytes(plan_.id, plan_.up_bytes);
    socket_.send(up.substr(up.size() - up.size() / 10));
    socket_.shut_writes();
  }
  if (socket_.flush()) finish(Outcome::complete);
}

}  // namespace

std::unique_ptr<FaultClient> make_client(const TunnelPlan& plan, const Places& places) {
  return std::make_unique<TunnelClient>(plan, places);
}

}  // namespace headrace::io
