#include <gtest/gtest.h>

#include <string>

#include "preface/proxy_header.h"

namespace headrace::preface {
namespace {

using namespace std::string_literals;

std::optional<ConnectionEnds> ends(const char* source, const char* destination) {
  return ConnectionEnds{*IpAddress::parse(source), *IpAddress::parse(destination), 56324, 443};
}

std::string header1(const std::optional<ConnectionEnds>& ends) {
  std::string out;
  append_proxy_header1(out, ends);
  return out;
}
std::string header2(const std::optional<ConnectionEnds>& ends, std::string_view tlvs = {}) {
  std::string out;
  append_proxy_header2(out, ends, tlvs);
  return out;
}

TEST(proxy_header_writer, version_1_is_one_line) {
  EXPECT_EQ(header1(ends("192.0.2.7", "198.51.100.1")),
            "PROXY TCP4 192.0.2.7 198.51.100.1 56324 443\r\n");
  EXPECT_EQ(header1(ends("2001:db8::1", "::1")), "PROXY TCP6 2001:db8::1 ::1 56324 443\r\n");
}

TEST(proxy_header_writer, what_cannot_be_told_is_unknown) {
  EXPECT_EQ(header1(std::nullopt), "PROXY UNKNOWN\r\n");
  EXPECT_EQ(header1(ends("192.0.2.7", "::1")), "PROXY UNKNOWN\r\n");
  EXPECT_EQ(header2(std::nullopt), "\r\n\r\n\0\r\nQUIT\n\x21\0\0\0"s);
  EXPECT_EQ(header2(ends("192.0.2.7", "::1")), "\r\n\r\n\0\r\nQUIT\n\x21\0\0\0"s);
}

TEST(proxy_header_writer, version_2_is_binary) {
  EXPECT_EQ(header2(ends("192.0.2.7", "198.51.100.1")),
            "\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xc0\0\x02\x07\xc6\x33\x64\x01\xdc\x04\x01\xbb"s);
}

TEST(proxy_header_writer, version_2_carries_tlvs_behind_the_addresses) {
  std::string tlvs;
  append_tlv(tlvs, TlvType::authority, "o.example.test");
  EXPECT_EQ(tlvs, "\x02\0\x0eo.example.test"s);
  const std::string plain = header2(ends("192.0.2.7", "198.51.100.1"));
  const std::string with = header2(ends("192.0.2.7", "198.51.100.1"), tlvs);
  EXPECT_EQ(with.size(), plain.size() + tlvs.size());
  EXPECT_EQ(with.substr(14, 2), "\0\x1d"s);
  EXPECT_TRUE(with.ends_with(tlvs));
}

TEST(proxy_header_writer, what_is_written_is_read_as_the_same) {
  std::string tlvs;
  append_tlv(tlvs, TlvType::authority, "o.example.test");
  for (const auto& both : {ends("192.0.2.7", "198.51.100.1"), ends("2001:db8::1", "2001:db8::2"),
                           std::optional<ConnectionEnds>()}) {
    for (const std::string& header : {header1(both), header2(both), header2(both, tlvs)}) {
      const Parse<ProxyHeader> parsed = parse_proxy_header(as_bytes(header));
      ASSERT_TRUE(parsed);
      EXPECT_EQ(parsed->ends, both);
      EXPECT_EQ(parsed.consumed_bytes(), header.size());
    }
  }
}

}  // namespace
}  // namespace headrace::preface
