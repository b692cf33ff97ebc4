#include "http/chunked.h"

#include <gtest/gtest.h>

#include <string>

#include "delivery.h"

namespace headrace::http {
namespace {

using namespace std::string_view_literals;
using Output = ChunkedBody::Output;
using State = ChunkedBody::State;

// What the caller sends on, all in all, and how it ended: "hello|rest" or "5\r\nhe more".
std::string passed_on(Output output, const Pieces& pieces) {
  ChunkedBody body(output);
  std::string sent;
  std::string untouched;
  State state = State::more;
  for (std::string_view piece : pieces) {
    if (state != State::more) {
      untouched += piece;
      continue;
    }
    std::vector<uint8_t> bytes(piece.begin(), piece.end());
    ChunkedBody::Step step = body.apply(bytes);
    state = step.state;
    EXPECT_LE(step.output_bytes, step.consumed_bytes);
    sent += as_text(ByteSpan(bytes).first(step.output_bytes));
    if (state == State::ended) untouched += as_text(ByteSpan(bytes).subspan(step.consumed_bytes));
    EXPECT_TRUE(state != State::more || step.consumed_bytes == piece.size());
    EXPECT_TRUE(state == State::ended || body.tail().empty()) << "an end before the source's own";
  }
  sent += body.tail();
  switch (state) {
    case State::more:
      return sent + " more";
    case State::ended:
      return sent + "|" + untouched;
    case State::failed:
      return std::string(name_of(body.error()));
  }
  return {};
}

std::string normalised(std::string_view bytes) {
  return in_every_delivery(bytes,
                           [](const Pieces& pieces) { return passed_on(Output::chunked, pieces); });
}
std::string decoded(std::string_view bytes) {
  return in_every_delivery(bytes,
                           [](const Pieces& pieces) { return passed_on(Output::decoded, pieces); });
}

TEST(chunked, B102_canonical_chunks_pass_as_they_came) {
  constexpr std::string_view kBody = "5\r\nhello\r\nA\r\n0123456789\r\n0\r\n\r\n";
  EXPECT_EQ(normalised(kBody), std::string(kBody) + "|");
  EXPECT_EQ(decoded(kBody), "hello0123456789|");
  EXPECT_EQ(normalised("0\r\n\r\n"), "0\r\n\r\n|");
  EXPECT_EQ(decoded("0\r\n\r\n"), "|");
}

TEST(chunked, canonical_chunks_are_not_moved) {
  std::string bytes = "5\r\nhello\r\n";
  ChunkedBody body(Output::chunked);
  ChunkedBody::Step step = body.apply({reinterpret_cast<uint8_t*>(bytes.data()), bytes.size()});
  EXPECT_EQ(step.output_bytes, bytes.size());
  EXPECT_EQ(bytes, "5\r\nhello\r\n");
}

TEST(chunked, bytes_behind_the_end_are_left_alone) {
  EXPECT_EQ(normalised("1\r\nx\r\n0\r\n\r\nGET / HTTP/1.1\r\n"),
            "1\r\nx\r\n0\r\n\r\n|GET / HTTP/1.1\r\n");
  EXPECT_EQ(decoded("001;e\r\nx\r\n00\r\nA: b\r\n\r\n0\r\n\r\n"), "x|0\r\n\r\n");
}

TEST(chunked, B072_sizes_are_hex_digits_within_bounds) {
  for (std::string_view line : {"-1", "FFFFFFFFFFFFFFFF", "10000000000000005", "8000000000000000",
                                "0x5", "5 ", "5\t", " 5", "G", "5G", "", "+5", "5,", "\xe4"}) {
    std::string bytes = std::string(line) + "\r\nhello\r\n0\r\n\r\n";
    EXPECT_EQ(normalised(bytes), "malformed") << line;
    EXPECT_EQ(decoded(bytes), "malformed") << line;
  }
  EXPECT_EQ(decoded("7fffffffffffffff\r\nhello"), "hello more");
  EXPECT_EQ(decoded("80000000\r\nhello"), "hello more");
}

TEST(chunked, B072_zeros_in_front_are_bounded_and_dropped) {
  EXPECT_EQ(normalised("0005\r\nhello\r\n000\r\n\r\n"), "5\r\nhello\r\n0\r\n\r\n|");
  EXPECT_EQ(normalised("50\r\n" + std::string(80, 'x') + "\r\n"),
            "50\r\n" + std::string(80, 'x') + "\r\n more");
  std::string zeros = std::string(5000, '0') + "5\r\nhello\r\n0\r\n\r\n";
  EXPECT_EQ(passed_on(Output::chunked, Pieces{zeros}), "5\r\nhello\r\n0\r\n\r\n|");
  std::string endless(1'000'000, '0');
  EXPECT_EQ(passed_on(Output::chunked, cut_into(endless, 1000)), "malformed");
}

TEST(chunked, B074_extensions_are_checked_and_dropped) {
  EXPECT_EQ(normalised("5;a=b;c=\"d;e\"\r\nhello\r\n0;last\r\n\r\n"), "5\r\nhello\r\n0\r\n\r\n|");
  EXPECT_EQ(normalised("5 ;a\r\nhello\r\n0\t ; b\r\n\r\n"), "5\r\nhello\r\n0\r\n\r\n|");
  EXPECT_EQ(decoded("5;a=\"\xe4\t\"\r\nhello\r\n0\r\n\r\n"), "hello|");
  for (std::string_view extension : {";\x01"sv, ";\0"sv, ";a\nb"sv, ";a\rb"sv, ";\x7f"sv, " a"sv})
    EXPECT_EQ(normalised("5" + std::string(extension) + "\r\nhello\r\n0\r\n\r\n"), "malformed");
}

TEST(chunked, B074_extensions_are_bounded_over_the_body) {
  std::string longest = "5;" + std::string(kChunkOverheadBytesMax - 1, 'a') + "\r\nhello\r\n";
  EXPECT_EQ(passed_on(Output::decoded, Pieces{longest}), "hello more");
  EXPECT_EQ(passed_on(Output::decoded, Pieces{longest, longest}), "malformed");
  std::string one_MiB = "5;" + std::string(1 << 20, 'a') + "\r\nhello\r\n0\r\n\r\n";
  EXPECT_EQ(passed_on(Output::chunked, cut_into(one_MiB, 1000)), "malformed");

  std::string many;
  for (int i = 0; i < 2000; ++i) many += "1;0123456789\r\nx\r\n";
  EXPECT_EQ(passed_on(Output::decoded, Pieces{many}), "malformed");
}

TEST(chunked, a_long_stream_may_carry_an_extension_on_each_chunk) {
  ChunkedBody body(Output::decoded);
  for (int i = 0; i < 2000; ++i) {
    std::string chunk = "400;signature=0123456789abcdef\r\n" + std::string(0x400, 'x') + "\r\n";
    std::vector<uint8_t> bytes(chunk.begin(), chunk.end());
    ASSERT_EQ(body.apply(bytes).state, State::more);
  }
}

TEST(chunked, lines_end_with_CR_LF_only) {
  for (std::string_view bytes :
       {"5\nhello\r\n0\r\n\r\n", "5\r\rhello\r\n0\r\n\r\n", "5\r\nhello\n0\r\n\r\n",
        "5\r\nhello\r\r0\r\n\r\n", "5\r\nhello0\r\n\r\n", "5\r\nhellooo\r\n0\r\n\r\n", "0\n\n",
        "0\r\n\n", "0\r\n\rx", "0\r\nA: b\n\r\n", "0\r\nA: b\rc\r\n\r\n"})
    EXPECT_EQ(normalised(bytes), "malformed") << bytes;
}

TEST(chunked, B076_a_trailer_is_passed_on_behind_the_last_chunk) {
  EXPECT_EQ(normalised("5\r\nhello\r\n0\r\nX-Sum: 1\r\nX-Two:2 \r\n\r\nHTTP/1.1 200 OK"),
            "5\r\nhello\r\n0\r\nX-Sum: 1\r\nX-Two: 2\r\n\r\n|HTTP/1.1 200 OK");
  EXPECT_EQ(decoded("5\r\nhello\r\n0\r\nX-Sum: 1\r\nX-Two: 2\r\n\r\nHTTP"), "hello|HTTP");
}

TEST(chunked, B076_a_trailer_is_dropped_whole_where_the_caller_says_so) {
  auto run = [](const Pieces& pieces) {
    return passed_on(Output::chunked_without_trailer, pieces);
  };
  EXPECT_EQ(in_every_delivery("0\r\nX-Sum: 1\r\n\r\nrest", run), "0\r\n\r\n|rest");
  EXPECT_EQ(in_every_delivery("0\r\nX Sum: 1\r\n\r\nrest", run), "malformed");
}

TEST(chunked, B076_fields_that_steer_a_message_do_not_pass_in_a_trailer) {
  for (std::string_view name :
       {"Content-Length", "Transfer-Encoding", "TRAILER", "Host", "Connection", "Via", "Upgrade",
        "Proxy-Authorization", "Proxy-Foo", "Authorization", "Cookie", "Set-Cookie", "Location",
        "Content-Type", "Content-Encoding", "Cache-Control", "Expect", "Max-Forwards", "TE"})
    EXPECT_EQ(normalised("0\r\n" + std::string(name) + ": 1\r\nX-A: b\r\n\r\n"),
              "0\r\nX-A: b\r\n\r\n|")
        << name;
  EXPECT_EQ(normalised("0\r\nHost: 1\r\n\r\n"), "0\r\n\r\n|");
}

TEST(chunked, B076_a_trailer_is_bounded) {
  std::string fits(kTrailerBytesMax - 5, 'x');
  EXPECT_EQ(passed_on(Output::chunked, Pieces{"0\r\nA: " + fits + "\r\n\r\n"}),
            "0\r\nA: " + fits + "\r\n\r\n|");
  std::string longer = "0\r\nA: " + fits + "x\r\n\r\n";
  EXPECT_EQ(passed_on(Output::chunked, Pieces{longer}), "too_large");
  EXPECT_EQ(passed_on(Output::chunked, cut_into(longer, 100)), "too_large");
  std::string many = "0\r\n";
  for (int i = 0; i < 300; ++i) many += "A: b\r\n";
  EXPECT_EQ(passed_on(Output::decoded, Pieces{many + "\r\n"}), "too_large");
}

TEST(chunked, B060_control_bytes_in_a_trailer_are_refused) {
  for (std::string_view value : {"a\0b"sv, "a\rb"sv, "a\nb"sv, "a\x01z"sv, "a\x7f"sv})
    EXPECT_EQ(normalised("0\r\nX-A: " + std::string(value) + "\r\n\r\n"), "malformed");
}

TEST(chunked, B062_a_blank_before_the_colon_in_a_trailer_is_refused) {
  EXPECT_EQ(normalised("0\r\nX-A : b\r\n\r\n"), "malformed");
  EXPECT_EQ(normalised("0\r\n X-A: b\r\n\r\n"), "malformed");
}

TEST(chunked, B078_a_body_that_is_cut_short_never_gets_an_end) {
  constexpr std::string_view kWhole = "5\r\nhello\r\n3;x\r\nabc\r\n0;y\r\nX-A: b\r\n\r\n";
  for (size_t cut = 0; cut < kWhole.size(); ++cut)
    for (Output output : {Output::chunked, Output::chunked_without_trailer, Output::decoded}) {
      std::string sent = passed_on(output, Pieces{kWhole.substr(0, cut)});
      EXPECT_TRUE(sent.ends_with(" more")) << cut;
      EXPECT_EQ(sent.find('0'), std::string::npos) << cut;
    }
}

TEST(chunked, B104_a_failed_body_stays_failed) {
  ChunkedBody body(Output::chunked);
  std::string bad = "5\r\nhelloX";
  std::string good = "0\r\n\r\n";
  ChunkedBody::Step step = body.apply({reinterpret_cast<uint8_t*>(bad.data()), bad.size()});
  EXPECT_EQ(step.state, State::failed);
  EXPECT_EQ(bad.substr(0, step.output_bytes), "5\r\nhello");
  step = body.apply({reinterpret_cast<uint8_t*>(good.data()), good.size()});
  EXPECT_EQ(step.state, State::failed);
  EXPECT_EQ(step.output_bytes, 0u);
  EXPECT_EQ(body.tail(), "");
}

TEST(chunked, data_can_go_past_by_other_means) {
  ChunkedBody body(Output::chunked);
  std::string begin = "100;x\r\nab";
  ChunkedBody::Step step = body.apply({reinterpret_cast<uint8_t*>(begin.data()), begin.size()});
  EXPECT_EQ(begin.substr(0, step.output_bytes), "100\r\nab");
  EXPECT_EQ(body.data_bytes_left(), 254u);
  body.skip_data(200);
  EXPECT_EQ(body.data_bytes_left(), 54u);
  body.skip_data(54);
  EXPECT_EQ(body.data_bytes_left(), 0u);
  std::string end = "\r\n0\r\n\r\n";
  step = body.apply({reinterpret_cast<uint8_t*>(end.data()), end.size()});
  EXPECT_EQ(step.state, State::ended);
  EXPECT_EQ(end.substr(0, step.output_bytes) + std::string(body.tail()), "\r\n0\r\n\r\n");
}

TEST(chunked, own_chunks_have_a_line_of_hex) {
  EXPECT_EQ(ChunkLine(1).text(), "1\r\n");
  EXPECT_EQ(ChunkLine(0x10000).text(), "10000\r\n");
  EXPECT_EQ(ChunkLine(UINT64_MAX).text(), "ffffffffffffffff\r\n");
  std::string made =
      std::string(ChunkLine(5).text()) + "hello" + std::string(kChunkEnd) + std::string(kLastChunk);
  EXPECT_EQ(decoded(made), "hello|");
}

}  // namespace
}  // namespace headrace::http
