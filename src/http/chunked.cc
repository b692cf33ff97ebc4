#include "http/chunked.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <vector>

#include "base/check.h"
#include "base/text.h"
#include "http/chars.h"
#include "http/field.h"

namespace headrace::http {
namespace {

// The value of a hex digit, or -1.
int hex_value(uint8_t c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_blank(uint8_t c) {
  return c == ' ' || c == '\t';
}

// RFC 9110 section 6.5.1: what steers framing, routing, authentication, the request, caching or how
// the content is understood has been decided upon when the head came. Fields with an id are all of
// that kind.
bool may_come_late(const Field& field) {
  // clang-format off
  constexpr std::string_view kOnlyInHeads[] = {
      "accept-ranges", "age", "authorization", "cache-control", "content-encoding", "content-range",
      "content-type", "cookie", "date", "expires", "forwarded", "if-match", "if-modified-since",
      "if-none-match", "if-range", "if-unmodified-since", "last-modified", "location", "pragma",
      "range", "retry-after", "set-cookie", "vary", "warning", "www-authenticate",
  };
  // clang-format on
  if (field.id != FieldId::other) return false;
  return std::none_of(std::begin(kOnlyInHeads), std::end(kOnlyInHeads), [&](std::string_view name) {
    return equals_ignoring_case(name, field.name);
  });
}

}  // namespace

// Where apply() reads and writes. `to` never overtakes `from`.
struct ChunkedBody::Cursor {
  const uint8_t* from;
  const uint8_t* end;
  uint8_t* to;

  size_t left() const { return end - from; }
  void pass() { *to++ = *from++; }
  void drop() { ++from; }
};

ChunkedBody::Step ChunkedBody::apply(MutableByteSpan bytes) {
  Cursor at{bytes.data(), bytes.data() + bytes.size(), bytes.data()};
  while (at.from < at.end && phase_ != Phase::ended && phase_ != Phase::failed) take_some(at);

  State state = phase_ == Phase::ended    ? State::ended
                : phase_ == Phase::failed ? State::failed
                                          : State::more;
  return {state, static_cast<size_t>(at.from - bytes.data()),
          static_cast<size_t>(at.to - bytes.data())};
}

void ChunkedBody::take_some(Cursor& at) {
  switch (phase_) {
    case Phase::size_begin:
    case Phase::size:
    case Phase::size_blank:
      return take_size(at);
    case Phase::extension:
      return take_extension(at);
    case Phase::size_end:
      return take_byte(at, '\n', passes_line_end(),
                       left_bytes_ > 0 ? Phase::data : Phase::trailer_line);
    case Phase::data:
      return take_data(at);
    case Phase::data_cr:
      return take_byte(at, '\r', keeps_chunks(), Phase::data_lf);
    case Phase::data_lf:
      return take_byte(at, '\n', keeps_chunks(), Phase::size_begin);
    case Phase::trailer_line:
      if (*at.from == '\r') return take_byte(at, '\r', false, Phase::trailer_end);
      phase_ = Phase::trailer_field;
      return;
    case Phase::trailer_field:
      return take_trailer_field(at);
    case Phase::trailer_end:
      take_byte(at, '\n', false, Phase::ended);
      if (phase_ == Phase::ended) end();
      return;
    case Phase::ended:
    case Phase::failed:
      return;
  }
}

// One byte of the chunk line: a digit, what ends the digits, or a blank in front of an extension.
void ChunkedBody::take_size(Cursor& at) {
  const uint8_t c = *at.from;
  if (int digit = hex_value(c); digit >= 0 && phase_ != Phase::size_blank) {
    if (left_bytes_ > kChunkBytesMax >> 4) return fail(Errc::malformed);
    phase_ = Phase::size;
    left_bytes_ = left_bytes_ * 16 + static_cast<uint64_t>(digit);
    if (left_bytes_ > 0 && keeps_chunks()) return at.pass();
    at.drop();
    if (left_bytes_ == 0 && !add_overhead(1)) fail(Errc::malformed);
    return;
  }
  if (phase_ == Phase::size_begin) return fail(Errc::malformed);
  if (c == '\r' && phase_ == Phase::size)
    return take_byte(at, '\r', passes_line_end(), Phase::size_end);
  if (c != ';' && !is_blank(c)) return fail(Errc::malformed);
  if (!add_overhead(1)) return fail(Errc::malformed);
  phase_ = c == ';' ? Phase::extension : Phase::size_blank;
  at.drop();
}

void ChunkedBody::take_extension(Cursor& at) {
  const char* begin = reinterpret_cast<const char*>(at.from);
  size_t bytes = skip_value_chars(begin, begin + at.left()) - begin;
  if (!add_overhead(bytes)) return fail(Errc::malformed);
  at.from += bytes;
  if (at.from < at.end) take_byte(at, '\r', passes_line_end(), Phase::size_end);
}

void ChunkedBody::take_data(Cursor& at) {
  size_t bytes = static_cast<size_t>(std::min<uint64_t>(left_bytes_, at.left()));
  if (at.to != at.from) std::memmove(at.to, at.from, bytes);
  at.to += bytes;
  at.from += bytes;
  skip_data(bytes);
}

void ChunkedBody::skip_data(uint64_t bytes) {
  HEADRACE_ASSERT(bytes <= data_bytes_left());
  pay_overhead(bytes);
  left_bytes_ -= bytes;
  if (left_bytes_ == 0) phase_ = Phase::data_cr;
}

void ChunkedBody::take_trailer_field(Cursor& at) {
  if (!trailer_) trailer_ = std::make_unique<std::string>();
  const void* lf = std::memchr(at.from, '\n', at.left());
  size_t bytes = lf ? static_cast<const uint8_t*>(lf) + 1 - at.from : at.left();
  if (trailer_->size() + bytes > kTrailerBytesMax) return fail(Errc::too_large);
  trailer_->append(as_text({at.from, bytes}));
  at.from += bytes;
  if (!lf) return;
  if (!trailer_->ends_with("\r\n")) return fail(Errc::malformed);
  phase_ = Phase::trailer_line;
}

void ChunkedBody::take_byte(Cursor& at, uint8_t wanted, bool passes, Phase then) {
  if (*at.from != wanted) return fail(Errc::malformed);
  phase_ = then;
  if (passes)
    at.pass();
  else
    at.drop();
}

// The source's end was seen: makes the tail out of the trailer.
void ChunkedBody::end() {
  if (!trailer_) return;
  std::vector<Field> fields;
  if (std::optional<Errc> fault = parse_field_lines(*trailer_, fields)) return fail(*fault);

  std::string tail = "0\r\n";
  for (const Field& field : fields)
    if (may_come_late(field)) (((tail += field.name) += ": ") += field.value) += "\r\n";
  tail += "\r\n";
  if (output_ == Output::chunked)
    *trailer_ = std::move(tail);
  else
    trailer_.reset();
}

std::string_view ChunkedBody::tail() const {
  if (!ended() || !keeps_chunks()) return {};
  return trailer_ ? std::string_view(*trailer_) : kLastChunk;
}

bool ChunkedBody::add_overhead(size_t bytes) {
  if (bytes > kChunkOverheadBytesMax - overhead_bytes_) return false;
  overhead_bytes_ += static_cast<uint32_t>(bytes);
  return true;
}

void ChunkedBody::pay_overhead(uint64_t data_bytes) {
  overhead_bytes_ -= static_cast<uint32_t>(std::min<uint64_t>(overhead_bytes_, data_bytes));
}

void ChunkedBody::fail(Errc what) {
  phase_ = Phase::failed;
  error_ = what;
}

ChunkLine::ChunkLine(uint64_t data_bytes) {
  HEADRACE_ASSERT(data_bytes > 0);
  char* end = std::to_chars(text_, text_ + kBytesMax - 2, data_bytes, 16).ptr;
  *end++ = '\r';
  *end++ = '\n';
  size_bytes_ = static_cast<uint8_t>(end - text_);
}

}  // namespace headrace::http
