#include "tls/record_counter.h"

#include <gtest/gtest.h>

#include <vector>

namespace headrace::tls {
namespace {

void append_record(std::vector<uint8_t>& stream, size_t body_bytes) {
  stream.insert(stream.end(), {23, 3, 3, static_cast<uint8_t>(body_bytes >> 8),
                               static_cast<uint8_t>(body_bytes)});
  stream.insert(stream.end(), body_bytes, 0x17);
}

TEST(RecordCounter, CountsRecordsInPiecesOfAnySize) {
  std::vector<uint8_t> stream;
  const std::vector<size_t> bodies = {1, 300, 0, 17, 16640, 255, 256, 0};
  for (size_t body : bodies) append_record(stream, body);
  for (size_t piece : {size_t{1}, size_t{2}, size_t{5}, size_t{7}, size_t{4096}, stream.size()}) {
    RecordCounter counter;
    for (size_t at = 0; at < stream.size(); at += piece)
      counter.count(ByteSpan(stream).subspan(at, std::min(piece, stream.size() - at)));
    EXPECT_EQ(counter.records(), bodies.size()) << piece;
    EXPECT_EQ(counter.missing_bytes(), 0u) << piece;
  }
}

TEST(RecordCounter, SaysHowFarTheEndOfTheRecordIs) {
  std::vector<uint8_t> stream;
  append_record(stream, 300);
  append_record(stream, 0x4140);
  RecordCounter counter;
  EXPECT_EQ(counter.missing_bytes(), 0u);
  size_t calls = 0;
  for (size_t at = 0; at < stream.size(); ++calls) {
    const size_t missing = counter.missing_bytes();
    const size_t taken = missing == 0 ? 1 : missing;  // a first byte, the head, the body
    counter.count(ByteSpan(stream).subspan(at, taken));
    at += taken;
  }
  EXPECT_EQ(calls, 6u);
  EXPECT_EQ(counter.records(), 2u);
  EXPECT_EQ(counter.missing_bytes(), 0u);
}

}  // namespace
}  // namespace headrace::tls
