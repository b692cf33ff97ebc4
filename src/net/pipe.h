// Pipes for splice(): a pool per worker. A relay leases one while bytes are inside it and gives it
// back empty, so the number of pipes follows the number of stalled transfers, not of connections.
//
// Sizes: the first kBigMax leases get 1 MB, later ones 256 KB, then 64 KB, as far as the kernel
// grants it (pipe-user-pages-soft: 64 MB per unprivileged user; beyond, F_SETPIPE_SZ fails or new
// pipes come out tiny). Beyond kLeasedMax, or where the kernel gives less than 64 KB, there is no
// lease: the relay copies, and a counter tells.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/unique_fd.h"

namespace headrace::net {

struct Pipe {
  UniqueFd read_end;
  UniqueFd write_end;
  uint32_t capacity_bytes = 0;
  uint32_t bytes = 0;  // inside

  bool empty() const { return bytes == 0; }
};

struct PipeStats {
  uint64_t created = 0;
  uint64_t refused = 0;  // leases that were not to be had
};

class PipePool {
 public:
  static constexpr size_t kBigBytes = 1024 * 1024;
  static constexpr size_t kMiddleBytes = 256 * 1024;
  static constexpr size_t kSmallBytes = 64 * 1024;
  static constexpr size_t kBigMax = 32;
  static constexpr size_t kMiddleMax = 96;
  static constexpr size_t kLeasedMax = 1024;
  static constexpr size_t kIdleMax = 4;

  // nullptr where there is none to be had.
  std::unique_ptr<Pipe> lease();
  // A pipe that still holds bytes is thrown away with them.
  void give_back(std::unique_ptr<Pipe> pipe);

  size_t leased() const { return leased_; }
  size_t idle() const { return idle_.size(); }
  const PipeStats& stats() const { return stats_; }

 private:
  std::unique_ptr<Pipe> create();

  std::vector<std::unique_ptr<Pipe>> idle_;
  size_t leased_ = 0;
  size_t big_ = 0;
  size_t middle_ = 0;
  PipeStats stats_;
};

}  // namespace headrace::net
