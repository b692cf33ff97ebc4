// The origin's roles without HTTP: sink, source and echo.
#pragma once

#include <array>
#include <vector>

#include "served.h"

namespace headrace::load {

// Discards what comes and reports how much it was.
class SinkServed final : public Served {
 public:
  using Served::Served;
  Outcome on_tick() override;
  bool wants_ticks() const override { return true; }

 private:
  Outcome serve() override;
  bool send_report();

  uint64_t received_bytes_ = 0;
  std::array<uint8_t, 8> report_{};  // the one on its way, little-endian
  size_t report_sent_bytes_ = 8;
};

// Sends the pattern for ever, once the client has said a byte.
class SourceServed final : public Served {
 public:
  using Served::Served;

 private:
  Outcome serve() override;
  Outcome await_go();

  bool is_going_ = false;
  uint64_t sent_bytes_ = 0;
};

// Sends back what comes; reads no more while something waits to be sent.
class EchoServed final : public Served {
 public:
  using Served::Served;

 private:
  Outcome serve() override;
  bool flush();

  std::vector<uint8_t> residue_;
  size_t residue_sent_bytes_ = 0;
};

}  // namespace headrace::load
