// The command line of headrace-link; README.md has the options' meanings and defaults.
#pragma once

#include <cstdint>
#include <optional>

#include "args.h"
#include "direction.h"
#include "tun.h"

namespace headrace::link {

struct LinkOptions {
  EndOptions a;
  EndOptions b;
  LinkWords a_to_b;
  LinkWords b_to_a;
  FlowLimits flows;
  int mtu_bytes = 1500;
  uint64_t seed = 1;
};

// Nothing, and a reason on standard error, when the words are wrong.
std::optional<LinkOptions> read_link_options(load::Args args);

}  // namespace headrace::link
