#include "request_body.h"

#include <algorithm>

namespace headrace::load {
namespace {

// A chunk's size in hexadecimal; more digits than a body of this program can need.
constexpr size_t kSizeDigitsMax = 12;
constexpr size_t kLineBytesMax = 4096;

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

void RequestBody::begin_length(uint64_t bytes) {
  chunked_ = false;
  step_ = Step::data;
  left_ = bytes;
  state_ = bytes == 0 ? State::complete : State::going_on;
}

void RequestBody::begin_chunked() {
  chunked_ = true;
  step_ = Step::size;
  left_ = 0;
  line_bytes_ = 0;
  state_ = State::going_on;
}

RequestBody::State RequestBody::take(std::string_view& bytes, std::string_view& body) {
  body = {};
  while (!bytes.empty() && state_ == State::going_on) {
    if (step_ == Step::data) {
      body = bytes.substr(0, static_cast<size_t>(std::min<uint64_t>(left_, bytes.size())));
      bytes.remove_prefix(body.size());
      left_ -= body.size();
      if (left_ == 0 && chunked_) step_ = Step::data_end;
      if (left_ == 0 && !chunked_) state_ = State::complete;
      return state_;
    }
    state_ = take_framing(bytes.front());
    bytes.remove_prefix(1);
  }
  return state_;
}

RequestBody::State RequestBody::take_framing(char c) {
  if (c == '\n') return end_line();
  if (c == '\r') return State::going_on;
  if (++line_bytes_ > kLineBytesMax || step_ == Step::data_end) return State::malformed;
  if (step_ != Step::size) return State::going_on;  // extensions and trailers say nothing to us
  const int digit = hex_digit(c);
  if (digit >= 0 && line_bytes_ <= kSizeDigitsMax) {
    left_ = left_ * 16 + static_cast<uint64_t>(digit);
  } else if (line_bytes_ > 1 && (c == ';' || c == ' ')) {
    step_ = Step::size_rest;
  } else {
    return State::malformed;
  }
  return State::going_on;
}

RequestBody::State RequestBody::end_line() {
  const bool was_empty = line_bytes_ == 0;
  line_bytes_ = 0;
  switch (step_) {
    case Step::size:
    case Step::size_rest:
      if (was_empty) return State::malformed;
      step_ = left_ == 0 ? Step::trailer : Step::data;
      return State::going_on;
    case Step::data_end:
      step_ = Step::size;
      return State::going_on;
    default:  // an empty line ends the trailers
      return was_empty ? State::complete : State::going_on;
  }
}

}  // namespace headrace::load
