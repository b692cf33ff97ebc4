// One connection of the origin. Each role of a listener is a kind of it; the origin owns all.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "pattern.h"
#include "stream.h"

namespace headrace::load {

enum class Role : uint8_t { http, sink, source, echo };

struct OriginCounts {
  uint64_t connections = 0;
  uint64_t requests = 0;
  uint64_t bytes_in = 0;  // of bodies and streams
  uint64_t bytes_out = 0;
  uint64_t wrong_bodies = 0;
  uint64_t bad_requests = 0;
};

// What the connections of one origin share; one thread.
struct OriginShared {
  const Pattern& pattern;
  OriginCounts counts;
  std::span<uint8_t> scratch;
};

class Served {
 public:
  enum class Outcome : uint8_t {
    waiting,  // for the next event
    more,     // its share of a turn is spent, there is more to do at once
    over,
  };

  Served(OriginShared& shared, UniqueFd fd, UniqueSsl ssl);
  virtual ~Served() = default;
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;

  // Its socket became ready, or `more` is due (no events).
  Outcome on_ready(uint32_t events);
  // Ten times a second, where wants_ticks().
  virtual Outcome on_tick() { return Outcome::waiting; }
  virtual bool wants_ticks() const { return false; }

  int fd() const { return stream_.fd(); }
  bool is_queued = false;  // in the origin's list of those with more to do

 protected:
  virtual Outcome serve() = 0;
  // Whether a read that got less than it had room for emptied the socket and no end lies behind it:
  // then asking again would only cost a call.
  bool is_emptied_by(size_t bytes, size_t room) const {
    return bytes < room && !told_end_ && !stream_.is_tls();
  }

  OriginShared& shared_;
  Stream stream_;

 private:
  bool is_handshaking_;
  bool told_end_ = false;  // an event said that no more will come
};

std::unique_ptr<Served> make_served(Role role, OriginShared& shared, UniqueFd fd, UniqueSsl ssl);

// A connection's share of a turn.
inline constexpr size_t kServeTurnBytes = 1024 * 1024;

}  // namespace headrace::load
