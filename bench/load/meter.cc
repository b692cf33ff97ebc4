#include "meter.h"

#include <sys/resource.h>

#include <algorithm>

namespace headrace::load {
namespace {

double to_ms(int64_t ns) {
  return static_cast<double>(ns) / 1e6;
}

double seconds_of(const timeval& t) {
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
}

}  // namespace

CpuTime CpuTime::now() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return {seconds_of(usage.ru_utime), seconds_of(usage.ru_stime)};
}

void Meter::plan(int64_t begin_ns, int64_t end_ns) {
  begin_ns_ = begin_ns;
  end_ns_ = end_ns;
}

void Meter::end(int64_t now_ns) {
  end_ns_ = std::min(end_ns_, now_ns);
  cpu_at_end_ = CpuTime::now();
  is_measured_ = true;
}

void Meter::completed(int64_t since_ns, int64_t now_ns, uint64_t bytes, Loop loop) {
  if (in_window(now_ns)) {
    ++requests_;
    bytes_ += bytes;
  }
  if (!counts_for_latency(since_ns, now_ns, loop)) return;
  latencies_ns_.record(now_ns - since_ns);
  if (loop == Loop::open) ++due_ended_;
}

void Meter::lagged(int64_t due_ns, int64_t now_ns) {
  if (in_window(due_ns)) lags_ns_.record(now_ns - due_ns);
}

void Meter::failed(Failure failure, const std::string& reason) {
  ++failures_[static_cast<size_t>(failure)];
  if (first_error_.empty()) first_error_ = reason;
}

void Meter::lost(Failure failure, int64_t since_ns, int64_t now_ns, Loop loop) {
  if (!counts_for_latency(since_ns, now_ns, loop)) return;
  if (failure == Failure::timeout) latencies_ns_.record(now_ns - since_ns);
  if (loop == Loop::open) ++due_ended_;
}

void Meter::add_rates(JsonObject& out, const ClientOptions& options) const {
  const double seconds = is_measured_ ? to_seconds(end_ns_ - begin_ns_) : 0;
  const bool counts = options.scenario != ScenarioKind::stream;
  const bool open_loop = lags_ns_.count() > 0;
  const auto when = [](bool applies, auto value) {
    return applies ? std::optional(value) : std::nullopt;
  };
  const auto latency = [&](double share) {
    return when(latencies_ns_.count() > 0, to_ms(latencies_ns_.percentile(share)));
  };
  const double bits =
      bit_rate_.value_or(8.0 * static_cast<double>(bytes_) / std::max(seconds, 1e-9));
  out.add("seconds", seconds);
  out.add("requests", when(counts, requests_));
  out.add("rate", when(counts && seconds > 0, static_cast<double>(requests_) / seconds));
  out.add("bytes", bytes_);
  out.add("gbit", when(seconds > 0, bits / 1e9));
  out.add("mean_ms", when(latencies_ns_.count() > 0, latencies_ns_.mean() / 1e6));
  out.add("p50_ms", latency(0.5));
  out.add("p90_ms", latency(0.9));
  out.add("p99_ms", latency(0.99));
  out.add("p999_ms", latency(0.999));
  out.add("max_ms", when(latencies_ns_.count() > 0, to_ms(latencies_ns_.max())));
  add_failures(out);
  out.add("connects", connects_);
  out.add("resumed", resumed_);
  out.add("repeats", repeats_);
  out.add("unfinished", due_in_window_ - due_ended_);
  out.add("schedule_lag_p99_ms", when(open_loop, to_ms(lags_ns_.percentile(0.99))));
  out.add("schedule_lag_max_ms", when(open_loop, to_ms(lags_ns_.max())));
}

void Meter::add_failures(JsonObject& out) const {
  const uint64_t timeouts = failures(Failure::timeout);
  uint64_t errors = 0;
  for (const uint64_t count : failures_) errors += count;
  JsonObject by_kind;
  by_kind.add("connect", failures(Failure::connect));
  by_kind.add("reset", failures(Failure::reset));
  by_kind.add("short", failures(Failure::cut));
  by_kind.add("wrong", failures(Failure::wrong));
  out.add("errors", errors - timeouts);
  out.add("timeouts", timeouts);
  out.add("errors_by", by_kind);
  out.add("first_error", first_error_);
}

JsonObject Meter::report(const ClientOptions& options) const {
  JsonObject out;
  out.add("scenario", options.scenario_name);
  out.add("mode", options.mode_name);
  out.add("tls", options.tls);
  out.add("connections", uint64_t{options.connections});
  add_rates(out, options);
  const double user = cpu_at_end_.user_s - cpu_at_begin_.user_s;
  const double sys = cpu_at_end_.sys_s - cpu_at_begin_.sys_s;
  out.add("cpu_user_s", user);
  out.add("cpu_sys_s", sys);
  out.add("cpu_s", user + sys);
  return out;
}

}  // namespace headrace::load
