// Runs the owner of a socket after a time, for what no event of the socket tells.
#pragma once

#include "net/loop.h"

namespace headrace::net {

class Alarm final : public Runnable {
 public:
  // Both outlive it.
  Alarm(Loop& loop, const Watch& watch) : loop_(loop), watch_(watch), timer_(*this) {}

  void arm(Duration after) {
    timer_.disarm();
    loop_.arm(timer_, after);
  }
  // The time is over.
  bool rang() const { return timer_.expired(); }
  void run() override { loop_.make_ready(watch_.owner()); }

 private:
  Loop& loop_;
  const Watch& watch_;
  Timer timer_;
};

}  // namespace headrace::net
