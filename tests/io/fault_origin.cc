#include "fault_origin.h"

#include <algorithm>
#include <cstdlib>

namespace headrace::io {
namespace {

using End = PlainSocket::End;
using Ending = TunnelPlan::Ending;
using Manner = RequestPlan::Manner;

// Held back by whoever waits for the other's end.
size_t held_back(size_t bytes) {
  return bytes / 10;
}

}  // namespace

struct FaultOrigin::Connection {
  enum class Kind : uint8_t { unknown, tunnel, http };

  PlainSocket socket;
  Kind kind = Kind::unknown;
  std::string in;   // received and not yet used
  uint64_t id = 0;  // of the tunnel, or of the request being read or answered

  // Of a tunnel.
  size_t received_bytes = 0;
  bool sent_last = false;

  // Of HTTP.
  bool in_body = false;
  bool answered = false;  // the answer is on its way; what follows depends on the manner
  bool ending = false;    // waits for the program's end
  std::string body;
  ChunkReader chunks;
};

FaultOrigin::FaultOrigin(const RoundPlan& round) : round_(round) {}
FaultOrigin::~FaultOrigin() = default;

void FaultOrigin::fault(uint64_t id, const std::string& what) {
  faults_.push_back("origin, id " + std::to_string(id) + ": " + what);
}

bool FaultOrigin::is_done_with_tunnels() const {
  return std::none_of(connections_.begin(), connections_.end(), [](const auto& connection) {
    return connection->kind == Connection::Kind::tunnel;
  });
}

void FaultOrigin::step() {
  while (std::optional<PlainSocket> socket = listener_.accept()) {
    connections_.push_back(std::make_unique<Connection>());
    connections_.back()->socket = std::move(*socket);
  }
  for (auto& connection : connections_) step(*connection);
  std::erase_if(connections_, [](const auto& c) { return !c->socket.is_open(); });
}

void FaultOrigin::step(Connection& c) {
  const size_t pace =
      c.kind == Connection::Kind::tunnel ? round_.tunnel_by_id.at(c.id).upstream_reads : 0;
  c.socket.flush();
  c.socket.receive(pace == 0 ? SIZE_MAX : pace);
  c.in += c.socket.take();
  if (c.kind == Connection::Kind::unknown) begin(c);
  if (c.kind == Connection::Kind::tunnel) step_tunnel(c);
  if (c.kind == Connection::Kind::http) step_http(c);
  // It ended before it said what it wanted.
  if (c.kind == Connection::Kind::unknown && c.socket.end_seen() != End::open) c.socket.close();
}

void FaultOrigin::begin(Connection& c) {
  if (c.in.empty()) return;
  if (c.in[0] != 'T') {
    c.kind = Connection::Kind::http;
    return;
  }
  const size_t line = c.in.find('\n');
  if (line == std::string::npos) return;
  c.id = std::strtoull(c.in.c_str() + 2, nullptr, 10);
  c.in.erase(0, line + 1);
  c.kind = Connection::Kind::tunnel;
  const TunnelPlan& plan = round_.tunnel_by_id.at(c.id);
  std::string down = down_bytes(plan.id, plan.down_bytes);
  if (plan.ending == Ending::client_first) down.resize(down.size() - held_back(down.size()));
  c.socket.send(down);
  if (plan.ending == Ending::both_at_once || plan.ending == Ending::upstream_first)
    c.socket.shut_writes();
}

void FaultOrigin::step_tunnel(Connection& c) {
  const TunnelPlan& plan = round_.tunnel_by_id.at(c.id);
  const std::string expected = up_bytes(plan.id, plan.up_bytes);
  if (expected.compare(c.received_bytes, c.in.size(), c.in) != 0) fault(c.id, "wrong bytes");
  c.received_bytes += c.in.size();
  c.in.clear();
  if (plan.ending == Ending::upstream_resets && c.received_bytes >= plan.reset_after_bytes)
    return c.socket.reset();
  const End end = c.socket.end_seen();
  if (end == End::open) return;
  if (end == End::reset) return c.socket.close();
  ended_.insert(c.id);
  if (c.received_bytes != expected.size()) fault(c.id, "cut, and ended cleanly");
  complete_.insert(c.id);
  if (!c.sent_last) {
    c.sent_last = true;
    if (plan.ending == Ending::client_first) {
      const std::string down = down_bytes(plan.id, plan.down_bytes);
      c.socket.send(down.substr(down.size() - held_back(down.size())));
    }
    c.socket.shut_writes();
  }
  if (c.socket.flush()) c.socket.close();
}

void FaultOrigin::step_http(Connection& c) {
  for (;;) {
    if (c.answered) {
      end_answer(c);
      if (c.answered || !c.socket.is_open()) break;
    }
    if (!c.in_body && !take_head(c)) break;
    const RequestPlan& plan = round_.request_by_id.at(c.id);
    if (plan.manner == Manner::early && !c.answered && !c.ending) answer(c);
    if (!take_body(c)) break;
    c.in_body = false;
    complete_.insert(c.id);
    if (!c.answered && !c.ending) answer(c);
  }
  if (c.socket.is_open() && c.socket.end_seen() != End::open) c.socket.close();
}

bool FaultOrigin::take_head(Connection& c) {
  const size_t head = c.in.find("\r\n\r\n");
  if (head == std::string::npos || c.ending) return false;
  const size_t slash = c.in.find(" /");
  c.id = std::strtoull(c.in.c_str() + slash + 2, nullptr, 10);
  if (!round_.request_by_id.contains(c.id) || slash > head) {
    fault(c.id, "no request of ours: " + c.in.substr(0, 60));
    c.socket.close();
    return false;
  }
  c.in.erase(0, head + 4);
  c.body.clear();
  c.in_body = true;
  return true;
}

// True when the whole of it is there.
bool FaultOrigin::take_body(Connection& c) {
  const RequestPlan& plan = round_.request_by_id.at(c.id);
  const std::string expected = up_bytes(plan.id, plan.up_bytes);
  bool whole = true;
  if (plan.body == RequestPlan::Body::length) {
    const size_t missing = expected.size() - c.body.size();
    c.body += c.in.substr(0, missing);
    c.in.erase(0, missing);
    whole = c.body.size() == expected.size();
  } else if (plan.body == RequestPlan::Body::chunked) {
    const ChunkReader::State state = c.chunks.take(c.in, c.body);
    if (state == ChunkReader::State::wrong) fault(c.id, "wrong chunks");
    whole = state == ChunkReader::State::ended;
    if (whole && c.body.size() != expected.size()) fault(c.id, "short, and looks whole");
  }
  if (!expected.starts_with(c.body)) fault(c.id, "wrong bytes");
  return whole;
}

void FaultOrigin::answer(Connection& c) {
  using Answer = RequestPlan::Answer;
  const RequestPlan& plan = round_.request_by_id.at(c.id);
  const std::string body = plan.method == "HEAD" ? "" : down_bytes(plan.id, plan.down_bytes);
  std::string text;
  if (plan.interim)
    text += "HTTP/1.1 103 Early Hints\r\nLink: </" + std::to_string(c.id) + ">\r\n\r\n";
  text += plan.answer == Answer::none ? "HTTP/1.1 204 No Content\r\n" : "HTTP/1.1 200 OK\r\n";
  if (plan.manner == Manner::early || plan.manner == Manner::announces_close)
    text += "Connection: close\r\n";
  if (plan.answer == Answer::length)
    text += "Content-Length: " + std::to_string(plan.down_bytes) + "\r\n";
  if (plan.answer == Answer::chunked) text += "Transfer-Encoding: chunked\r\n";
  text += "\r\n";
  std::string coded =
      plan.answer == Answer::chunked && plan.method != "HEAD" ? as_chunks(body) : body;
  if (plan.answer == Answer::none) coded.clear();
  // Half of it, but always something, and never all.
  if (plan.is_cut()) coded.resize(coded.size() / 2);
  c.socket.send(text + coded);
  c.answered = true;
}

// What the manner asks for once the answer has left.
void FaultOrigin::end_answer(Connection& c) {
  if (!c.socket.flush()) return;
  const RequestPlan& plan = round_.request_by_id.at(c.id);
  c.answered = false;
  switch (plan.manner) {
    case Manner::cut_by_reset:
      return c.socket.reset();
    case Manner::cut_by_end:
    case Manner::closes_unannounced:
      return c.socket.close();
    case Manner::early:
    case Manner::announces_close:
      break;
    case Manner::proper:
      if (plan.answer != RequestPlan::Answer::until_close) return;
  }
  // Everything that still comes is read, or our end would become a reset and destroy the answer.
  c.socket.shut_writes();
  c.ending = true;
}

}  // namespace headrace::io
