// The chunked transfer coding (RFC 9112 section 7.1), read in pieces of any size and rewritten in
// place.
//
// The caller receives into its buffer, calls apply() on what came and sends what apply() left
// there:
//
//     ChunkedBody::Step step = body.apply(received);
//     send(received.first(step.output_bytes));
//     if (step.state == ended) send(body.tail());       // "0 CRLF ... CRLF": the source's end was
//     seen
//
// Output never outgrows input, byte by byte, so no headroom is needed: a size digit goes out where
// a size digit came in. A stream that is canonical already is not moved, only looked at, about ten
// bytes per chunk. Nothing is left over for the next call: a header cut in two is remembered as
// state, not as bytes. Extensions and leading zeros are dropped. What says "the body is complete"
// is not part of the output but of tail(), which is empty until the last byte of the source's own
// end was seen: a body that is cut short cannot end cleanly by mistake.
//
// While data_bytes_left() is large the caller may move that many bytes by other means, such as
// splice(2), and report them with skip_data().
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/error.h"

namespace headrace::http {

// Bytes of chunk lines that are neither size nor data (extensions, leading zeros) are tolerated up
// to this many more than the data bytes so far: enough for every honest stream however long, too
// little to keep a proxy busy with nothing. RFC 9112 section 7.1.1 asks for such a limit.
inline constexpr size_t kChunkOverheadBytesMax = 16 * 1024;
// The whole trailer section as sent.
inline constexpr size_t kTrailerBytesMax = 8 * 1024;
// Larger chunks are refused; the value is that of off_t, so sums of two do not overflow.
inline constexpr uint64_t kChunkBytesMax = INT64_MAX;

class ChunkedBody {
 public:
  enum class Output : uint8_t {
    chunked,                  // for HTTP/1.1: chunks as they came, and the trailer
    chunked_without_trailer,  // the trailer is checked and dropped: for messages whose Connection
                              // nominates fields, which then must not come back as trailers
    decoded,                  // for HTTP/1.0: the data alone, end of connection is the end
  };
  enum class State : uint8_t { more, ended, failed };
  struct Step {
    State state;
    // All of the input, unless the body ended: then what is behind is untouched and not ours.
    size_t consumed_bytes;
    size_t output_bytes;  // at the front of the same memory; may overwrite consumed bytes only
  };

  explicit ChunkedBody(Output output) : output_(output) {}

  // Once failed, it stays so: the bytes that came out before were a correct beginning, and the
  // caller cuts the connection uncleanly.
  [[nodiscard]] Step apply(MutableByteSpan bytes);

  // Data of the current chunk that is still to come; 0 between chunks.
  uint64_t data_bytes_left() const { return phase_ == Phase::data ? left_bytes_ : 0; }
  // `bytes` of them, at most data_bytes_left(), went from source to destination past us.
  void skip_data(uint64_t bytes);

  bool ended() const { return phase_ == Phase::ended; }
  // The last chunk with the trailer and the empty line, once ended; always empty for
  // Output::decoded. Of the trailer the fields that must not come late are left out: framing,
  // routing, authentication, connection (RFC 9110 section 6.5.1). Never merged into a head.
  std::string_view tail() const;
  // malformed, or too_large for a trailer beyond its limit, once failed.
  Errc error() const { return error_; }

 private:
  enum class Phase : uint8_t {
    size_begin,  // before the first digit
    size,        // within the digits
    size_blank,  // blanks behind them: only an extension may follow
    extension,   // up to the CR
    size_end,    // LF of the chunk line
    data,
    data_cr,
    data_lf,
    trailer_line,   // at the begin of a line: the empty one ends the body
    trailer_field,  // within a line, up to its LF
    trailer_end,    // LF of the empty line
    ended,
    failed,
  };
  struct Cursor;

  void take_some(Cursor& at);
  void take_size(Cursor& at);
  void take_extension(Cursor& at);
  void take_data(Cursor& at);
  void take_trailer_field(Cursor& at);
  // Takes one byte, which must be `wanted`, and passes it on where `passes`.
  void take_byte(Cursor& at, uint8_t wanted, bool passes, Phase then);
  void end();
  bool add_overhead(size_t bytes);
  void pay_overhead(uint64_t data_bytes);
  void fail(Errc what);

  bool keeps_chunks() const { return output_ != Output::decoded; }
  // The line of the last chunk is not passed on but part of the tail.
  bool passes_line_end() const { return keeps_chunks() && left_bytes_ > 0; }

  uint64_t left_bytes_ = 0;  // of the chunk's data; its size while the digits are read
  // Collects the trailer as sent, then holds the tail; not allocated for bodies without trailer.
  std::unique_ptr<std::string> trailer_;
  uint32_t overhead_bytes_ = 0;
  Phase phase_ = Phase::size_begin;
  Output output_;
  Errc error_ = Errc::malformed;
};
static_assert(sizeof(ChunkedBody) <= 32);

// The line in front of a chunk that we make ourselves, for a body that came without chunks.
// Behind the data comes kChunkEnd, behind all data kLastChunk.
class ChunkLine {
 public:
  static constexpr size_t kBytesMax = 18;
  explicit ChunkLine(uint64_t data_bytes);  // more than 0: an empty chunk would be the last one
  std::string_view text() const { return {text_, size_bytes_}; }

 private:
  char text_[kBytesMax];
  uint8_t size_bytes_;
};
inline constexpr std::string_view kChunkEnd = "\r\n";
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace headrace::http
