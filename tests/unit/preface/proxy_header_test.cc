#include "preface/proxy_header.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "preface/crc32c.h"

namespace headrace::preface {
namespace {

using namespace std::string_literals;

Parse<ProxyHeader> parse_exactly(std::string_view bytes) {
  const std::vector<uint8_t> copy(bytes.begin(), bytes.end());
  return parse_proxy_header(copy);
}

// In words: both ends, "own ends", "needs more", or the reason.
std::string told(const Parse<ProxyHeader>& parsed) {
  if (parsed.needs_more()) return "needs more";
  if (parsed.failed()) return std::string(name_of(parsed.error()));
  if (!parsed->ends) return "own ends";
  const ConnectionEnds& ends = *parsed->ends;
  return ends.source.to_string() + ' ' + std::to_string(ends.source_port) + " to " +
         ends.destination.to_string() + ' ' + std::to_string(ends.destination_port);
}
std::string told(std::string_view bytes) {
  return told(parse_exactly(bytes));
}

// The header needs each of its bytes, and is read the same with whatever behind it.
void expect_whole(std::string_view header, const std::string& expected) {
  for (size_t cut = 0; cut < header.size(); ++cut)
    ASSERT_EQ(told(header.substr(0, cut)), "needs more") << "cut at " << cut;
  for (const std::string& payload : {""s, "\0"s, "\r\n"s, "PROXY "s, "\x16\x03\x01"s}) {
    const Parse<ProxyHeader> parsed = parse_exactly(std::string(header) + payload);
    EXPECT_EQ(told(parsed), expected);
    EXPECT_EQ(parsed.consumed_bytes(), header.size());
  }
}

// ---- version 1 ----

TEST(proxy_header1, b192_is_consumed_exactly_at_any_segmentation) {
  expect_whole("PROXY TCP4 192.0.2.7 198.51.100.1 56324 443\r\n",
               "192.0.2.7 56324 to 198.51.100.1 443");
  expect_whole("PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n",
               "255.255.255.255 65535 to 255.255.255.255 65535");
  expect_whole("PROXY TCP4 0.0.0.0 127.0.0.1 0 1\r\n", "0.0.0.0 0 to 127.0.0.1 1");
  expect_whole("PROXY TCP6 2001:db8::1 ::1 1 2\r\n", "2001:db8::1 1 to ::1 2");
  expect_whole(
      "PROXY TCP6 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff "
      "65535 65535\r\n",
      "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 to ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff "
      "65535");
}

TEST(proxy_header1, mapped_addresses_are_the_ipv4_addresses_that_they_are) {
  expect_whole("PROXY TCP6 ::ffff:192.0.2.7 ::ffff:192.0.2.1 1 2\r\n",
               "192.0.2.7 1 to 192.0.2.1 2");
}

TEST(proxy_header1, unknown_says_nothing_whatever_stands_behind_it) {
  expect_whole("PROXY UNKNOWN\r\n", "own ends");
  expect_whole("PROXY UNKNOWN 192.0.2.7 x \0\xff\r\n"s, "own ends");
  const std::string longest = "PROXY UNKNOWN " + std::string(107 - 16, '\xff') + "\r\n";
  ASSERT_EQ(longest.size(), kProxyHeader1BytesMax);
  expect_whole(longest, "own ends");
}

TEST(proxy_header1, a_line_beyond_107_bytes_is_malformed_without_waiting_for_its_end) {
  const std::string begin = "PROXY UNKNOWN ";
  EXPECT_EQ(told(begin + std::string(106 - begin.size(), 'x')), "needs more");
  EXPECT_EQ(told(begin + std::string(107 - begin.size(), 'x')), "malformed");
  EXPECT_EQ(told(begin + std::string(106 - begin.size(), 'x') + "\r\n"), "malformed");
}

TEST(proxy_header1, what_deviates_from_the_line_is_malformed) {
  for (const std::string& rest : {"TCP4 192.0.2.7 198.51.100.1 1"s,
                                  "TCP4 192.0.2.7 198.51.100.1 1 2 "s,
                                  "TCP4  192.0.2.7 198.51.100.1 1 2"s,
                                  "TCP4 192.0.2.7 198.51.100.1 1 2 3"s,
                                  "TCP4 192.0.2.7\t198.51.100.1 1 2"s,
                                  " TCP4 192.0.2.7 198.51.100.1 1 2"s,
                                  "tcp4 192.0.2.7 198.51.100.1 1 2"s,
                                  "TCP 192.0.2.7 198.51.100.1 1 2"s,
                                  "UDP4 192.0.2.7 198.51.100.1 1 2"s,
                                  "UNKNOWNX"s,
                                  ""s,
                                  "TCP4"s,
                                  "TCP4 192.0.2.07 198.51.100.1 1 2"s,
                                  "TCP4 192.0.2 198.51.100.1 1 2"s,
                                  "TCP4 3221225991 198.51.100.1 1 2"s,
                                  "TCP4 256.0.2.7 198.51.100.1 1 2"s,
                                  "TCP4 2001:db8::1 2001:db8::2 1 2"s,
                                  "TCP6 192.0.2.7 198.51.100.1 1 2"s,
                                  "TCP6 [2001:db8::1] ::1 1 2"s,
                                  "TCP6 fe80::1%lo ::1 1 2"s,
                                  "TCP6 1::2::3 ::1 1 2"s,
                                  "TCP4 192.0.2.7 198.51.100.1 65536 2"s,
                                  "TCP4 192.0.2.7 198.51.100.1 01 2"s,
                                  "TCP4 192.0.2.7 198.51.100.1 00 2"s,
                                  "TCP4 192.0.2.7 198.51.100.1 +1 2"s,
                                  "TCP4 192.0.2.7 198.51.100.1 -1 2"s,
                                  "TCP4 192.0.2.7 198.51.100.1 1 "s,
                                  "TCP4 192.0.2.7 o.example.test 1 2"s,
                                  "TCP4 192.0.2.7\0 198.51.100.1 1 2"s})
    EXPECT_EQ(told("PROXY " + rest + "\r\n"), "malformed") << rest;
}

TEST(proxy_header1, neither_cr_nor_lf_ends_a_line_alone) {
  EXPECT_EQ(told("PROXY UNKNOWN\n"), "malformed");
  EXPECT_EQ(told("PROXY UNKNOWN\r"), "needs more");
  EXPECT_EQ(told("PROXY UNKNOWN\rx\r\n"), "malformed");
  EXPECT_EQ(told("PROXY TCP4 192.0.2.7 198.51.100.1 1 2\n\r\n"), "malformed");
}

TEST(proxy_header1, what_begins_otherwise_is_malformed_at_its_first_byte) {
  for (const std::string& bytes : {"G"s, "\x05"s, "\x16"s, "\0"s, "\n"s, "p"s, "PROXY\t"s, "POST"s})
    EXPECT_EQ(told(bytes), "malformed") << bytes;
}

// ---- version 2 ----

const std::string kSignature = "\r\n\r\n\0\r\nQUIT\n"s;

std::string v2(uint8_t command, uint8_t family, const std::string& block) {
  std::string out = kSignature;
  append_u8(out, command);
  append_u8(out, family);
  append_u16(out, static_cast<uint16_t>(block.size()));
  return out + block;
}
const std::string kEnds4 = "\xc0\x00\x02\x07\xc6\x33\x64\x01\xdc\x04\x01\xbb"s;
const std::string kTold4 = "192.0.2.7 56324 to 198.51.100.1 443";
std::string ends6() {
  return "\x20\x01\x0d\xb8"s + std::string(11, '\0') + "\x01"s + std::string(15, '\0') +
         "\x01\x00\x01\x00\x02"s;
}

std::string tlv(uint8_t type, std::string_view value) {
  std::string out;
  append_u8(out, type);
  append_u16(out, static_cast<uint16_t>(value.size()));
  return out.append(value);
}

TEST(proxy_header2, b192_is_consumed_exactly_at_any_segmentation) {
  expect_whole(v2(0x21, 0x11, kEnds4), kTold4);
  expect_whole(v2(0x21, 0x21, ends6()), "2001:db8::1 1 to ::1 2");
}

TEST(proxy_header2, tlvs_are_skipped) {
  const std::string nested = "\x01\0\0\0\0"s + tlv(0x21, "TLSv1.3") + tlv(0x22, "a client");
  expect_whole(v2(0x21, 0x11,
                  kEnds4 + tlv(1, "h2") + tlv(2, "o.example.test") + tlv(4, "") +
                      tlv(0x20, nested) + tlv(0xee, "\0\xff"s)),
               kTold4);
}

TEST(proxy_header2, mapped_addresses_are_the_ipv4_addresses_that_they_are) {
  const std::string mapped = std::string(10, '\0') + "\xff\xff\xc0\x00\x02\x07"s;
  expect_whole(v2(0x21, 0x21, mapped + mapped + "\0\1\0\2"s), "192.0.2.7 1 to 192.0.2.7 2");
}

TEST(proxy_header2, b192_local_and_what_is_no_tcp_leave_the_connections_own_ends) {
  expect_whole(v2(0x20, 0x00, ""), "own ends");
  expect_whole(v2(0x20, 0x11, kEnds4), "own ends");
  // Its block is discarded, with the family.
  expect_whole(v2(0x20, 0xff, "rubbish"), "own ends");
  expect_whole(v2(0x21, 0x00, ""), "own ends");
  expect_whole(v2(0x21, 0x00, tlv(2, "o.example.test")), "own ends");
  expect_whole(v2(0x21, 0x01, kEnds4), "own ends");
  expect_whole(v2(0x21, 0x10, kEnds4), "own ends");
  expect_whole(v2(0x21, 0x12, kEnds4), "own ends");
  expect_whole(v2(0x21, 0x22, ends6()), "own ends");
  expect_whole(v2(0x21, 0x31, std::string(216, 'p')), "own ends");
  expect_whole(v2(0x21, 0x32, std::string(216, 'p')), "own ends");
}

TEST(proxy_header2, unassigned_values_are_malformed_at_their_byte) {
  for (const int command : {0x00, 0x01, 0x10, 0x11, 0x22, 0x2f, 0x31, 0xff})
    EXPECT_EQ(told(kSignature + static_cast<char>(command)), "malformed") << command;
  for (const int family : {0x41, 0xf1, 0x13, 0x1f, 0x03})
    EXPECT_EQ(told(kSignature + "\x21" + static_cast<char>(family)), "malformed") << family;
}

TEST(proxy_header2, blocks_that_do_not_add_up_are_malformed) {
  EXPECT_EQ(told(v2(0x21, 0x11, kEnds4.substr(1))), "malformed");
  EXPECT_EQ(told(v2(0x21, 0x11, "")), "malformed");
  EXPECT_EQ(told(v2(0x21, 0x21, kEnds4)), "malformed");
  EXPECT_EQ(told(v2(0x21, 0x31, std::string(215, 'p'))), "malformed");
  for (const std::string& tlvs : {"\x02"s, "\x02\0"s, "\x02\0\x01"s, tlv(2, "x") + "\x04\0"s})
    EXPECT_EQ(told(v2(0x21, 0x11, kEnds4 + tlvs)), "malformed");
}

TEST(proxy_header2, headers_beyond_the_limit_are_refused_before_they_come) {
  constexpr size_t kBlockMax = kProxyHeader2BytesMax - 16;
  const std::string largest =
      v2(0x21, 0x11, kEnds4 + tlv(4, std::string(kBlockMax - kEnds4.size() - 3, 'x')));
  ASSERT_EQ(largest.size(), kProxyHeader2BytesMax);
  EXPECT_EQ(told(largest), kTold4);
  EXPECT_EQ(told(largest.substr(0, largest.size() - 1)), "needs more");
  EXPECT_EQ(told(v2(0x21, 0x11, std::string(kBlockMax + 1, '\0')).substr(0, 16)), "too_large");
  EXPECT_EQ(told(v2(0x20, 0x00, std::string(65'535, '\0')).substr(0, 16)), "too_large");
}

// ---- the checksum ----

TEST(crc32c, gives_the_published_values) {
  const auto crc_of = [](std::string_view text) {
    Crc32c crc;
    crc.add(as_bytes(text));
    return crc.value();
  };
  EXPECT_EQ(crc_of("123456789"), 0xe3069283u);
  // RFC 3720 appendix B.4.
  EXPECT_EQ(crc_of(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc_of(std::string(32, '\xff')), 0x62a8ab43u);
}

// A header whose checksum is right, with `flipped` exclusive-ored to its last byte.
std::string with_checksum(uint8_t flipped) {
  std::string header = v2(0x21, 0x11, kEnds4 + tlv(3, "\0\0\0\0"s) + tlv(2, "o.example.test"));
  Crc32c crc;
  crc.add(as_bytes(header));
  const size_t at = 16 + kEnds4.size() + 3;
  for (size_t i = 0; i < 4; ++i) header[at + i] = static_cast<char>(crc.value() >> (24 - 8 * i));
  header[at + 3] = static_cast<char>(static_cast<uint8_t>(header[at + 3]) ^ flipped);
  return header;
}

TEST(proxy_header2, a_checksum_must_fit) {
  expect_whole(with_checksum(0), kTold4);
  EXPECT_EQ(told(with_checksum(1)), "malformed");
  std::string changed = with_checksum(0);
  changed[17] ^= 1;  // an address
  EXPECT_EQ(told(changed), "malformed");
}

TEST(proxy_header2, a_checksum_of_another_length_or_a_second_one_is_malformed) {
  EXPECT_EQ(told(v2(0x21, 0x11, kEnds4 + tlv(3, "\0\0\0"s))), "malformed");
  const std::string good = with_checksum(0);
  const std::string block = good.substr(16);
  EXPECT_EQ(told(v2(0x21, 0x11, block + tlv(3, block.substr(15, 4)))), "malformed");
}

}  // namespace
}  // namespace headrace::preface
