// What a run is judged by: counts and latencies of the measured time, and every failure of the run.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "client_options.h"
#include "clock.h"
#include "failure.h"
#include "histogram.h"
#include "json.h"

namespace headrace::load {

// Who decides when the next exchange begins: the end of another, or the clock.
enum class Loop : uint8_t { closed, open };

struct CpuTime {
  double user_s = 0;
  double sys_s = 0;
  static CpuTime now();
};

class Meter {
 public:
  // The measured time, once it is known when it begins.
  void plan(int64_t begin_ns, int64_t end_ns);
  // At its real ends, and early where the run is cut short.
  void begin() { cpu_at_begin_ = CpuTime::now(); }
  void end(int64_t now_ns);

  int64_t begin_ns() const { return begin_ns_; }
  int64_t end_ns() const { return end_ns_; }
  bool in_window(int64_t when_ns) const { return when_ns >= begin_ns_ && when_ns < end_ns_; }

  // Open loop: something became due; `since_ns` of its end is this time.
  void scheduled(int64_t due_ns) { due_in_window_ += in_window(due_ns) ? 1 : 0; }
  // Counts towards the rate when it ended in the measured time, towards latency when it ended
  // (closed loop) or was due (open loop) in it.
  void completed(int64_t since_ns, int64_t now_ns, uint64_t bytes, Loop loop);
  // How late the client itself was.
  void lagged(int64_t due_ns, int64_t now_ns);

  void failed(Failure failure, const std::string& reason);
  // An exchange that failed. One that was given up counts with the time it had waited, so that
  // giving up does not embellish the percentiles.
  void lost(Failure failure, int64_t since_ns, int64_t now_ns, Loop loop);
  // Closed loop, at the end: began before the measured time and has no answer yet. Whoever lets
  // some of its clients starve would look quick otherwise.
  void starved(int64_t since_ns, int64_t now_ns) {
    if (since_ns < begin_ns_) latencies_ns_.record(now_ns - since_ns);
  }
  void repeated() { ++repeats_; }
  // `resumed`: by a TLS session of an earlier connection.
  void connected(int64_t now_ns, bool resumed) {
    if (!in_window(now_ns)) return;
    ++connects_;
    if (resumed) ++resumed_;
  }
  void moved(uint64_t bytes) { bytes_ += bytes; }
  // Streams, whose bits per second are measured where they arrive.
  void set_bit_rate(double bits_per_second) { bit_rate_ = bits_per_second; }

  uint64_t failures(Failure failure) const { return failures_[static_cast<size_t>(failure)]; }
  bool all_due_ended() const { return due_ended_ == due_in_window_; }

  JsonObject report(const ClientOptions& options) const;

 private:
  bool counts_for_latency(int64_t since_ns, int64_t now_ns, Loop loop) const {
    return in_window(loop == Loop::open ? since_ns : now_ns);
  }
  void add_rates(JsonObject& out, const ClientOptions& options) const;
  void add_failures(JsonObject& out) const;

  int64_t begin_ns_ = kNever;
  int64_t end_ns_ = kNever;
  bool is_measured_ = false;  // to an end
  CpuTime cpu_at_begin_;
  CpuTime cpu_at_end_;
  uint64_t requests_ = 0;
  uint64_t bytes_ = 0;
  uint64_t connects_ = 0;
  uint64_t resumed_ = 0;
  uint64_t repeats_ = 0;
  uint64_t due_in_window_ = 0;
  uint64_t due_ended_ = 0;
  std::optional<double> bit_rate_;
  Histogram latencies_ns_;
  Histogram lags_ns_;
  std::array<uint64_t, kFailures> failures_{};
  std::string first_error_;
};

}  // namespace headrace::load
