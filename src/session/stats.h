// What one worker counts. Written by its own thread, read by the control thread.
#pragma once

#include <array>

#include "base/counter.h"
#include "base/error.h"

namespace headrace::session {

struct Stats {
  Counter accepted;     // clients
  Counter handed_over;  // of them to another worker, for balance
  Counter shed;         // clients closed at once: out of descriptors
  Counter sessions_ended;
  Counter requests;  // forwarded HTTP requests
  Counter tunnels;   // CONNECT, SOCKS, Upgrade and relay
  Counter retried;   // requests sent again, the pooled connection having died
  Counter bytes_up;
  Counter bytes_down;
  std::array<Counter, kErrcCount> refused;  // by reason
};

}  // namespace headrace::session
