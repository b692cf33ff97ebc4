// The least that a relay over epoll can be, to measure a proxy against: what it costs beyond this
// is its own doing, what this costs is the kernel's. One thread, edge-triggered, one buffer that
// everything is received into; bytes are kept only while a destination does not take them.
//
// It has no timeouts, no limits and no log, answers no signal, and any failure closes both sides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fd.h"
#include "socket.h"

namespace headrace::reference {

enum class Bulk : uint8_t { copy, splice };

// One connection of a pair, and what epoll has told of it.
struct End {
  load::UniqueFd fd;
  struct Pair* pair = nullptr;  // none: the socket that listens
  bool readable = false;
  bool writable = false;
  bool hung_up = false;
};

struct Pipe {
  load::UniqueFd read_end;
  load::UniqueFd write_end;
  size_t bytes = 0;  // inside
};

// One way of a pair.
struct Way {
  End& from;
  End& to;
  std::string rest;            // received, and not taken yet
  std::unique_ptr<Pipe> pipe;  // while bytes are inside
  bool splices = false;
  int streak = 0;  // reads in a row that speak for the other way of moving bytes
  bool ended = false;
};

struct Pair {
  End client;
  End upstream;
  Way up{client, upstream, {}, {}};
  Way down{upstream, client, {}, {}};
  bool queued = false;  // to be pumped
};

class Relay {
 public:
  Relay(const load::Address& upstream, Bulk bulk);

  // Serves until the process ends; says why not on standard error, and returns the exit status.
  int run(const load::Address& at);

 private:
  static constexpr size_t kBufferBytes = 128 * 1024;

  enum class Outcome : uint8_t { moved, blocked, failed };

  void accept_all();
  void add(End& end);
  void queue(Pair& pair);
  void pump(Pair& pair);
  Outcome pump(Way& way);  // moved: there may be more
  Outcome drain(Way& way);
  Outcome copy(Way& way);
  Outcome splice(Way& way);
  void note_size(Way& way, size_t bytes);
  std::unique_ptr<Pipe> take_pipe();
  void close(Pair& pair);

  const load::Address upstream_;
  const Bulk bulk_;
  load::UniqueFd epoll_;
  End listening_;
  std::vector<char> buffer_;
  std::vector<std::unique_ptr<Pipe>> pipes_;  // empty ones
  std::vector<Pair*> queue_;
  std::vector<std::unique_ptr<Pair>> gone_;  // until no event can name them
};

}  // namespace headrace::reference
