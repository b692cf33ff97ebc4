// What clients and origins do in one round of mixed traffic: everything is decided beforehand by a
// seed, so that both sides know what the other will do, and what must come out.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "relay/options.h"

namespace headrace::io {

// A tunnel of a relay listener, of CONNECT or of SOCKS. Its first bytes are "T ID\n".
struct TunnelPlan {
  enum class Way : uint8_t { relay, connect, socks4a, socks5 };
  enum class Ending : uint8_t {
    both_at_once,
    client_first,    // the upstream sends its last tenth after the client's end
    upstream_first,  // the other way round
    client_resets,
    upstream_resets,
  };

  uint64_t id = 0;
  Way way = Way::relay;
  Ending ending = Ending::both_at_once;
  size_t up_bytes = 0;
  size_t down_bytes = 0;
  // Whoever resets does so when it has received so much.
  size_t reset_after_bytes = 0;
  bool by_name = false;     // asks for o.test instead of its address
  bool mixed = false;       // at the listener that tells HTTP and SOCKS apart
  bool eager = false;       // does not wait for the front's reply; of a relay, not a moment
  size_t client_reads = 0;  // at most so much in a step; 0: everything
  size_t upstream_reads = 0;
};

// One request and its answer. Its path is "/ID".
struct RequestPlan {
  enum class Body : uint8_t { none, length, chunked };
  enum class Answer : uint8_t { none, length, chunked, until_close };
  enum class Manner : uint8_t {
    proper,
    early,               // answers when it has the head, and ends its side
    announces_close,     // "Connection: close", and keeps to it
    closes_unannounced,  // behind a proper answer: the next request may meet the end
    cut_by_end,          // of the connection, in the middle of a body that says how long it is
    cut_by_reset,
  };

  uint64_t id = 0;
  std::string method;
  Body body = Body::none;
  size_t up_bytes = 0;
  Answer answer = Answer::length;
  size_t down_bytes = 0;
  Manner manner = Manner::proper;
  bool interim = false;  // a 103 goes first
  bool by_name = false;

  // The client has asked for more already, and of that an answer is cut: that takes with it what
  // the client has not read yet.
  bool may_be_cut_by_a_later_one = false;

  bool is_cut() const { return manner == Manner::cut_by_end || manner == Manner::cut_by_reset; }
  // Meeting the end of a kept connection is its own fault, not the program's.
  bool may_be_retried() const { return method != "POST"; }
};

// One client of the HTTP front, with requests one after the other.
struct HttpPlan {
  std::vector<RequestPlan> requests;
  bool pipelined = false;
  bool mixed = false;
  bool hesitates = false;  // says half of it, and the rest later
  size_t client_reads = 0;
};

struct RoundPlan {
  explicit RoundPlan(uint64_t seed);

  uint64_t seed;
  // What the kernel refuses, of 1000 calls.
  unsigned short_permille;
  unsigned again_permille;
  unsigned interrupt_permille;
  unsigned shortage_permille;  // descriptors, memory, ports; 0 with every odd seed
  size_t cut_after_turns;      // everything is cut then; 0: never
  relay::SpliceMode splice;
  int send_buffer_bytes;  // of the program towards its clients; 0: the kernel's
  std::vector<TunnelPlan> tunnels;
  std::vector<HttpPlan> https;
  std::map<uint64_t, TunnelPlan> tunnel_by_id;
  std::map<uint64_t, RequestPlan> request_by_id;

  bool is_disturbed() const { return shortage_permille != 0 || cut_after_turns != 0; }
  // Some origin ends connections without a word.
  bool has_rude_origin() const;
};

// What goes up or down under that id, the same for everybody who asks.
std::string up_bytes(uint64_t id, size_t bytes);
std::string down_bytes(uint64_t id, size_t bytes);
std::string as_chunks(const std::string& body);

// Takes chunks out of a stream. Strict: the program writes them anew.
class ChunkReader {
 public:
  enum class State : uint8_t { more, ended, wrong };
  // Takes what is whole from the front of `in`, its data going to `body`.
  State take(std::string& in, std::string& body);
};

}  // namespace headrace::io
