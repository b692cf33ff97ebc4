#include "exchange.h"

#include <algorithm>
#include <cstring>

namespace headrace::load {
namespace {

// How much of a request's body goes into the same call as its head.
constexpr size_t kFirstBodyBytes = 64 * 1024;
constexpr size_t kSendBytesMax = 1024 * 1024;
constexpr size_t kDiscardBytesMin = 4096;
// An answer of which nobody looks at the middle: the edges of each piece are compared all the same.
constexpr size_t kEdgeBytes = 64;

std::span<const uint8_t> as_bytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

}  // namespace

void Exchange::begin(const ExchangeSpec& spec, std::string_view head, Stream& stream,
                     const Pattern& pattern) {
  spec_ = spec;
  head_ = head;
  sent_bytes_ = 0;
  partial_head_.clear();
  phase_ = Phase::head;
  received_bytes_ = 0;
  length_known_ = false;
  keep_alive_ = false;
  send(stream, pattern);
}

Exchange::State Exchange::fail(Failure failure, std::string reason) {
  failure_ = failure;
  reason_ = std::move(reason);
  return State::failed;
}

// Sends until all is sent or the stream would block. A stream that fails here may still hold an
// answer (a refusal, say), so receiving alone decides what became of it.
void Exchange::send(Stream& stream, const Pattern& pattern) {
  const uint64_t total = head_.size() + spec_.body_bytes;
  if (sent_bytes_ == total) return;
  while (sent_bytes_ < total) {
    IoResult result;
    if (sent_bytes_ < head_.size()) {
      const uint64_t first_body = std::min<uint64_t>(spec_.body_bytes, kFirstBodyBytes);
      result = stream.write(as_bytes(std::string_view(head_).substr(sent_bytes_)),
                            {pattern.at(spec_.offset), first_body});
    } else {
      const uint64_t body_sent = sent_bytes_ - head_.size();
      result =
          stream.write_pattern(pattern, spec_.offset + body_sent,
                               std::min<uint64_t>(spec_.body_bytes - body_sent, kSendBytesMax));
    }
    if (!result.moved()) return;
    sent_bytes_ += result.bytes;
  }
  if (spec_.half_close) stream.shut_writes();
}

// Once the head is in, the rest of a long answer need not be copied to be counted.
bool Exchange::may_discard(uint64_t left, size_t scratch_bytes) const {
  if (phase_ != Phase::body || spec_.check == Check::full) return false;
  return left > (spec_.check == Check::length ? kDiscardBytesMin : scratch_bytes);
}

Exchange::State Exchange::advance(Stream& stream, const Pattern& pattern,
                                  std::span<uint8_t> scratch, bool upstream_ended) {
  send(stream, pattern);
  while (true) {
    const uint64_t left = spec_.answer_bytes - received_bytes_;
    const bool discards = may_discard(left, scratch.size());
    const IoResult result = discards ? stream.discard(left) : stream.read(scratch);
    if (result.blocked()) return State::waiting;
    if (!result.moved()) return finish_stream(result);
    if (discards) {
      received_bytes_ += result.bytes;
      if (received_bytes_ == spec_.answer_bytes) return State::done;
    } else {
      const State state = take(pattern, scratch.first(result.bytes));
      if (state != State::waiting) return state;
    }
    // A short read emptied the socket; asking again would only cost a call. What arrives from now
    // on, its end included, is another event. TLS may hold more than the socket tells.
    const bool short_read = result.bytes < (discards ? left : scratch.size());
    if (short_read && !upstream_ended && !stream.is_tls()) return State::waiting;
  }
}

// The stream gave an end or an error instead of bytes.
Exchange::State Exchange::finish_stream(const IoResult& end) {
  const bool begun = phase_ != Phase::head || !partial_head_.empty();
  const char* how = end.kind == IoResult::Kind::ended ? "ended"
                    : end.os_errno != 0               ? std::strerror(end.os_errno)
                                                      : "TLS broke";
  if (!begun) return fail(Failure::reset, std::string("before the answer: ") + how);
  const bool complete = phase_ == Phase::to_end && received_bytes_ == spec_.answer_bytes;
  if (complete && end.kind == IoResult::Kind::ended) return State::done;
  return fail(Failure::cut, "after " + std::to_string(received_bytes_) + " of " +
                                std::to_string(spec_.answer_bytes) + " bytes: " + how);
}

Exchange::State Exchange::take(const Pattern& pattern, std::span<const uint8_t> bytes) {
  return phase_ == Phase::head ? take_head(pattern, bytes) : take_body(pattern, bytes);
}

Exchange::State Exchange::take_head(const Pattern& pattern, std::span<const uint8_t> bytes) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const size_t known = partial_head_.size();
  if (known > 0) {
    partial_head_ += text;
    text = partial_head_;
  }
  AnswerHead head;
  switch (parse_answer_head(text, head)) {
    case HeadState::malformed:
      return fail(Failure::wrong, "malformed head");
    case HeadState::incomplete:
      if (known == 0) partial_head_ = text;
      return State::waiting;
    case HeadState::complete:
      break;
  }
  const std::span<const uint8_t> rest = bytes.subspan(head.head_bytes - known);
  const bool interim = head.status / 100 == 1;
  partial_head_.clear();
  if (interim) return rest.empty() ? State::waiting : take_head(pattern, rest);
  if (judge_head(head) == State::failed) return State::failed;
  return take_body(pattern, rest);
}

Exchange::State Exchange::judge_head(const AnswerHead& head) {
  if (head.status != 200) return fail(Failure::wrong, "status " + std::to_string(head.status));
  if (head.chunked) return fail(Failure::wrong, "chunked answer of a known length");
  length_known_ = head.content_length.has_value();
  if (length_known_ && *head.content_length != spec_.answer_bytes) {
    return fail(Failure::wrong, "length " + std::to_string(*head.content_length) + " instead of " +
                                    std::to_string(spec_.answer_bytes));
  }
  keep_alive_ = length_known_ && head.keep_alive && !spec_.last;
  phase_ = length_known_ ? Phase::body : Phase::to_end;
  return State::waiting;
}

Exchange::State Exchange::take_body(const Pattern& pattern, std::span<const uint8_t> bytes) {
  if (bytes.size() > spec_.answer_bytes - received_bytes_) {
    return fail(Failure::wrong, "more bytes than the answer has");
  }
  if (!body_matches(pattern, bytes)) {
    return fail(Failure::wrong, "other content near byte " + std::to_string(received_bytes_));
  }
  received_bytes_ += bytes.size();
  const bool complete = phase_ == Phase::body && received_bytes_ == spec_.answer_bytes;
  return complete ? State::done : State::waiting;
}

bool Exchange::body_matches(const Pattern& pattern, std::span<const uint8_t> bytes) const {
  const uint64_t position = spec_.offset + received_bytes_;
  if (spec_.check == Check::length || bytes.empty()) return true;
  if (spec_.check == Check::full || bytes.size() <= 2 * kEdgeBytes) {
    return pattern.matches(position, bytes);
  }
  return pattern.matches(position, bytes.first(kEdgeBytes)) &&
         pattern.matches(position + bytes.size() - kEdgeBytes, bytes.last(kEdgeBytes));
}

}  // namespace headrace::load
