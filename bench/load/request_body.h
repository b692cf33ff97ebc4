// The framing of a request's body as the origin reads it: by length or chunked (RFC 9112
// section 7.1). Bytes in, pieces of the body out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace headrace::load {

class RequestBody {
 public:
  enum class State : uint8_t { going_on, complete, malformed };

  void begin_length(uint64_t bytes);
  void begin_chunked();

  // Takes one piece off the front of `bytes`: `body` becomes what of it is body (maybe nothing).
  // To be called while bytes are left and the state is `going_on`.
  State take(std::string_view& bytes, std::string_view& body);
  State state() const { return state_; }

 private:
  enum class Step : uint8_t { data, size, size_rest, data_end, trailer };

  State take_framing(char c);
  State end_line();

  State state_ = State::complete;
  Step step_ = Step::data;
  bool chunked_ = false;
  uint64_t left_ = 0;      // of the body or chunk
  size_t line_bytes_ = 0;  // of the line being read, without CR LF
};

}  // namespace headrace::load
