// A connected socket, plain or with TLS, and the cheapest ways to move bytes through it.
// Nothing here waits: what would block says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "fd.h"
#include "pattern.h"
#include "tls.h"

namespace headrace::load {

struct IoResult {
  enum class Kind : uint8_t { moved, blocked, ended, failed };
  Kind kind;
  size_t bytes = 0;  // moved
  int os_errno = 0;  // failed; 0: TLS failed

  bool moved() const { return kind == Kind::moved; }
  bool blocked() const { return kind == Kind::blocked; }
};

class Stream {
 public:
  void open(UniqueFd fd, UniqueSsl ssl);
  // Says goodbye (close_notify) where TLS is healthy.
  void close();
  bool is_open() const { return static_cast<bool>(fd_); }
  bool is_tls() const { return ssl_ != nullptr; }
  // By a TLS session of an earlier connection.
  bool is_resumed() const { return ssl_ && ::SSL_session_reused(ssl_.get()) == 1; }
  int fd() const { return fd_.get(); }

  // TLS only: `moved` once the handshake is done.
  IoResult handshake();

  IoResult read(std::span<uint8_t> room);
  IoResult write(std::span<const uint8_t> bytes);
  // Two pieces with one call; both are plain memory of at most 16 KB together where TLS is spoken.
  IoResult write(std::span<const uint8_t> first, std::span<const uint8_t> second);
  // The pattern from a position on, at most `bytes_max` of it, without copying where possible.
  IoResult write_pattern(const Pattern& pattern, uint64_t position, size_t bytes_max);
  // Receives without looking; plain sockets do not even copy (MSG_TRUNC).
  IoResult discard(size_t bytes_max);
  // Ends our sending side (FIN, close_notify before it).
  void shut_writes();

 private:
  IoResult tls_result(int returned, size_t bytes);

  UniqueFd fd_;
  UniqueSsl ssl_;
  bool handshake_done_ = false;
  bool broken_ = false;  // TLS must not be touched again
};

}  // namespace headrace::load
