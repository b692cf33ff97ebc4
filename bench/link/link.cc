#include "link.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cstdio>

#include "clock.h"

namespace headrace::link {
namespace {

// Packets read from one device before the other and the departures have their turn.
constexpr int kReadsPerTurn = 64;

volatile sig_atomic_t stop_asked = 0;

void ask_stop(int) {
  stop_asked = 1;
}

// The signals are let in only while we wait, so that none is missed in between.
sigset_t catch_signals() {
  struct sigaction action {};
  action.sa_handler = ask_stop;
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGINT, &action, nullptr);
  sigset_t stops, before;
  ::sigemptyset(&stops);
  ::sigaddset(&stops, SIGTERM);
  ::sigaddset(&stops, SIGINT);
  ::sigprocmask(SIG_BLOCK, &stops, &before);
  return before;
}

}  // namespace

Link::Link(const LinkOptions& options, Tun a, Tun b)
    : a_(std::move(a)),
      b_(std::move(b)),
      // Directions draw their chances apart from each other.
      ways_{Way{Direction(options.a_to_b, options.flows, options.seed), a_.fd(), b_.fd(), {}},
            Way{Direction(options.b_to_a, options.flows, load::splitmix64(options.seed)),
                b_.fd(),
                a_.fd(),
                {}}},
      room_(static_cast<size_t>(options.mtu_bytes)) {}

int Link::run() {
  const sigset_t while_waiting = catch_signals();
  // Without it the kernel wakes us up to 50 us late, on purpose, to save power.
  ::prctl(PR_SET_TIMERSLACK, 1);
  std::fputs("ready\n", stderr);
  std::array<pollfd, 2> devices = {pollfd{a_.fd(), POLLIN, 0}, pollfd{b_.fd(), POLLIN, 0}};
  while (stop_asked == 0) {
    turn();
    int64_t until_ns = may_read_more_ ? 0 : load::kNever;
    for (const Way& way : ways_) until_ns = std::min(until_ns, way.direction.next_ns());
    const int64_t left_ns = std::max<int64_t>(0, until_ns - load::now_ns());
    const timespec timeout{left_ns / load::kNanosPerSecond, left_ns % load::kNanosPerSecond};
    ::ppoll(devices.data(), devices.size(), &timeout, &while_waiting);
  }
  load::JsonObject out;
  out.add("a_to_b", report(ways_[0], a_));
  out.add("b_to_a", report(ways_[1], b_));
  std::printf("%s\n", out.text().c_str());
  return 0;
}

void Link::turn() {
  may_read_more_ = false;
  for (Way& way : ways_) {
    read_some(way);
    write_due(way);
  }
}

void Link::read_some(Way& way) {
  for (int i = 0; i < kReadsPerTurn; ++i) {
    const ssize_t length = ::read(way.from_fd, room_.data(), room_.size());
    if (length <= 0) return;  // nothing more for now, or the device is down
    way.direction.arrive({room_.data(), static_cast<size_t>(length)}, load::now_ns());
  }
  may_read_more_ = true;
}

void Link::write_due(Way& way) {
  const int64_t now = load::now_ns();
  while (std::optional<Departure> departure = way.direction.depart(now)) {
    way.lags_ns.record(now - departure->due_ns);
    const std::span<const uint8_t> bytes = departure->packet.bytes();
    if (::write(way.to_fd, bytes.data(), bytes.size()) < 0) ++way.write_failures;
  }
}

load::JsonObject Link::report(const Way& way, const Tun& from) const {
  const DirectionCounts& counts = way.direction.counts();
  load::JsonObject out;
  out.add("packets_in", counts.packets_in);
  out.add("bytes_in", counts.bytes_in);
  out.add("packets_out", counts.packets_out);
  out.add("bytes_out", counts.bytes_out);
  out.add("lost", counts.lost);
  out.add("flow_dropped", counts.flow_dropped);
  out.add("dropped", counts.dropped);
  out.add("device_dropped", from.dropped());
  out.add("write_failures", way.write_failures);
  out.add("lag_p99_ms", static_cast<double>(way.lags_ns.percentile(0.99)) / 1e6);
  return out;
}

}  // namespace headrace::link
