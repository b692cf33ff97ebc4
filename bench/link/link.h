// The link itself: two devices, a direction each way, one thread that reads, waits and writes.
#pragma once

#include <array>
#include <vector>

#include "histogram.h"
#include "json.h"
#include "link_options.h"

namespace headrace::link {

class Link {
 public:
  Link(const LinkOptions& options, Tun a, Tun b);

  // Carries packets until TERM or INT, then prints the counts; the exit status of the program.
  int run();

 private:
  // From a device to the other one.
  struct Way {
    Direction direction;
    int from_fd;
    int to_fd;
    load::Histogram lags_ns;
    uint64_t write_failures = 0;
  };

  void turn();
  void read_some(Way& way);
  void write_due(Way& way);
  load::JsonObject report(const Way& way, const Tun& from) const;

  Tun a_;
  Tun b_;
  std::array<Way, 2> ways_;
  std::vector<uint8_t> room_;
  bool may_read_more_ = false;
};

}  // namespace headrace::link
