// One HTTP exchange over a stream: sends the request, receives the answer, checks both lengths and
// content. Called again whenever the stream is ready; holds nothing but counters while it waits.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "answer_head.h"
#include "failure.h"
#include "pattern.h"
#include "stream.h"

namespace headrace::load {

enum class Check : uint8_t { full, sampled, length };

struct ExchangeSpec {
  uint64_t answer_bytes = 0;
  uint64_t body_bytes = 0;  // 0: GET
  uint64_t offset = 0;      // of both bodies in the pattern
  Check check = Check::full;
  bool last = false;        // asks for the connection to be closed
  bool half_close = false;  // shuts our sending side down behind the request
};

class Exchange {
 public:
  enum class State : uint8_t { waiting, done, failed };

  // Sends as much of the request as goes at once. `head` is the complete request head that belongs
  // to the spec. What becomes of it is told by advance(), also where sending fails.
  void begin(const ExchangeSpec& spec, std::string_view head, Stream& stream,
             const Pattern& pattern);

  // Goes on as far as it can after the stream became ready; `upstream_ended` is whether that event
  // told of the end of what will come. `scratch` is the caller's, without meaning between calls.
  State advance(Stream& stream, const Pattern& pattern, std::span<uint8_t> scratch,
                bool upstream_ended);

  // After `done`: whether another request may be sent over the stream.
  bool keep_alive() const { return keep_alive_; }
  // After `failed`.
  Failure failure() const { return failure_; }
  const std::string& reason() const { return reason_; }

  uint64_t payload_bytes() const { return spec_.body_bytes + spec_.answer_bytes; }
  const ExchangeSpec& spec() const { return spec_; }

 private:
  enum class Phase : uint8_t { head, body, to_end };

  void send(Stream& stream, const Pattern& pattern);
  bool may_discard(uint64_t left, size_t scratch_bytes) const;
  State take(const Pattern& pattern, std::span<const uint8_t> bytes);
  State take_head(const Pattern& pattern, std::span<const uint8_t> bytes);
  State take_body(const Pattern& pattern, std::span<const uint8_t> bytes);
  State judge_head(const AnswerHead& head);
  State finish_stream(const IoResult& end);
  bool body_matches(const Pattern& pattern, std::span<const uint8_t> bytes) const;
  State fail(Failure failure, std::string reason);

  ExchangeSpec spec_;
  std::string head_;          // of the request
  uint64_t sent_bytes_ = 0;   // of head and body
  std::string partial_head_;  // of an answer that came in pieces
  Phase phase_ = Phase::head;
  uint64_t received_bytes_ = 0;  // of the answer's body
  bool length_known_ = false;
  bool keep_alive_ = false;
  Failure failure_ = Failure::wrong;
  std::string reason_;
};

}  // namespace headrace::load
