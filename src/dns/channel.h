// One c-ares channel on the worker's loop: takes questions to name servers and brings their
// answers, with tries, time-outs, the way to TCP, and the refusal of answers that are not to our
// question.
//
// A channel serves one name and goes with it, so that each name is asked from ports of its own, a
// failure to open a socket can be told to the name that suffered it, and giving up on one name
// touches no other (docs/decisions/0002-c-ares.md). Only this file knows c-ares.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "base/ip.h"
#include "base/result.h"
#include "net/loop.h"

struct ares_channeldata;

namespace headrace::dns {

class Channel {
 public:
  // How long a server may take to answer until the question goes to the next one; doubled on each
  // round over all of them.
  static constexpr net::Duration kTryTimeout = std::chrono::seconds(1);
  static constexpr int kRounds = 4;

  struct Outcome {
    std::optional<Errc> error;  // name_timed_out, name_failed, or what this host lacked
    ByteSpan message;           // what the server sent, where there is no error
    unsigned tries_lost = 0;    // time-outs on the way to it
  };
  class Listener {
   public:
    virtual void learn(const Outcome& outcome) = 0;

   protected:
    ~Listener() = default;
  };

  // `owner` is made ready when process() has something to do. `servers` as in ServerSettings, in
  // the order in which to try them.
  static Result<std::unique_ptr<Channel>> open(net::Loop& loop, net::Runnable& owner,
                                               std::span<const std::string> servers,
                                               net::Duration try_timeout);
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  // Listeners are not told.
  ~Channel();

  // Asks for the addresses of `name`, one question of a family at a time; the listener learns of
  // the outcome from process(), or before this returns. False where no such question can be asked:
  // the name cannot exist.
  bool ask(const std::string& name, IpAddress::Family family, Listener& listener);
  // Does what the readiness of descriptors and the time demand.
  void process();
  // When process() wants to be called next though no descriptor is ready.
  std::optional<net::Duration> next_timeout() const;

 private:
  struct Socket;
  struct Calls;

  struct Question {
    Channel* channel = nullptr;
    Listener* listener = nullptr;
  };

  Channel(net::Loop& loop, net::Runnable& owner);
  Errc reason_of(int status, int timeouts) const;
  Socket* find(int fd);

  net::Loop& loop_;
  net::Runnable& owner_;
  ares_channeldata* ares_ = nullptr;
  std::vector<std::unique_ptr<Socket>> sockets_;
  Question questions_[2];     // A, AAAA
  std::optional<Errc> lack_;  // why this host could not open a socket
  bool closing_ = false;
};

}  // namespace headrace::dns
