// What one worker counts of TLS. Written by its own thread, read by the control thread.
#pragma once

#include "base/counter.h"

namespace headrace::tls {

struct Stats {
  Counter kernel_receives;     // connections whose records the kernel opens
  Counter kernel_sends;        // and makes
  Counter kernel_refused;      // ways of connections that it would not take
  Counter kernel_key_updates;  // connections that ended since the kernel cannot follow a KeyUpdate
};

}  // namespace headrace::tls
