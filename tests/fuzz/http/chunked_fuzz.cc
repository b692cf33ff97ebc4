// A chunked body in every form of output. However it is split, the same comes out; what is passed
// on to HTTP/1.1 is canonical: reading it again changes nothing and decodes to the same data.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "http/chunked.h"
#include "pieces.h"

using namespace headrace;
using namespace headrace::http;

namespace {

using Output = ChunkedBody::Output;
using State = ChunkedBody::State;

struct Outcome {
  State state = State::more;
  std::string sent;  // with the tail
  size_t consumed_bytes = 0;

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

template <class NextLength>
Outcome run(Output output, std::string_view bytes, NextLength next_length) {
  ChunkedBody body(output);
  Outcome outcome;
  while (outcome.state == State::more && outcome.consumed_bytes < bytes.size()) {
    std::string_view rest = bytes.substr(outcome.consumed_bytes);
    std::string_view piece = rest.substr(0, next_length());
    std::vector<uint8_t> part(piece.begin(), piece.end());
    ChunkedBody::Step step = body.apply(part);
    HEADRACE_ASSERT(step.output_bytes <= step.consumed_bytes);
    HEADRACE_ASSERT(step.consumed_bytes <= piece.size());
    HEADRACE_ASSERT(step.state != State::more || step.consumed_bytes == piece.size());
    HEADRACE_ASSERT(step.state == State::ended || body.tail().empty());
    outcome.state = step.state;
    outcome.consumed_bytes += step.consumed_bytes;
    outcome.sent += as_text(ByteSpan(part).first(step.output_bytes));
  }
  outcome.sent += body.tail();
  return outcome;
}

Outcome run_whole(Output output, std::string_view bytes) {
  return run(output, bytes, [&] { return bytes.size(); });
}

void check_output(Output output, std::string_view bytes, const std::string& data) {
  Outcome whole = run_whole(output, bytes);
  PieceLengths lengths(bytes);
  HEADRACE_ASSERT(whole == run(output, bytes, [&] { return lengths.next(); }));
  if (output == Output::decoded || whole.state == State::failed) return;
  HEADRACE_ASSERT(run_whole(output, whole.sent).sent == whole.sent);
  Outcome again = run_whole(Output::decoded, whole.sent);
  HEADRACE_ASSERT(again.state == whole.state && again.sent == data);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view bytes = as_text({data, size});
  std::string decoded = run_whole(Output::decoded, bytes).sent;
  for (Output output : {Output::chunked, Output::chunked_without_trailer, Output::decoded})
    check_output(output, bytes, decoded);
  return 0;
}
