// A TUN device in a network namespace, with an address and up. It is gone when its descriptor is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fd.h"

namespace headrace::link {

struct EndOptions {
  std::string netns;  // of `ip netns`; empty: the one we are started in
  std::string name;
  std::string address;  // IPv4
  int prefix_bits = 32;
};

// NETNS:NAME:ADDRESS/LENGTH.
std::optional<EndOptions> parse_end(std::string_view text);

class Tun {
 public:
  // Nothing, and what failed on standard error, where it cannot be made.
  static std::optional<Tun> make(const EndOptions& options, int mtu_bytes);

  int fd() const { return fd_.get(); }
  // Packets that the kernel dropped because we did not read them in time.
  uint64_t dropped() const;

 private:
  load::UniqueFd fd_;
  load::UniqueFd counters_;  // the namespace's /proc/net/dev
  std::string name_;
};

}  // namespace headrace::link
