#include "preface/proxy_header.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "preface/crc32c.h"
#include "preface/proxy_header_format.h"

namespace headrace::preface {
namespace {

using ParseHeader = Parse<ProxyHeader>;

// ---- version 1: one line of text (section 2.1) ----

// The next word of a line whose words are parted by exactly one blank; the last one takes the rest.
std::string_view take_word(std::string_view& line) {
  const size_t blank = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, blank);
  line.remove_prefix(std::min(blank + 1, line.size()));
  return word;
}

// 0 to 65535 without leading zeros.
std::optional<uint16_t> parse_port1(std::string_view digits) {
  if (digits.size() > 1 && digits.front() == '0') return std::nullopt;
  return parse_number<uint16_t>(digits);
}

std::optional<IpAddress> parse_address1(std::string_view text, IpAddress::Family family) {
  const std::optional<IpAddress> address = IpAddress::parse(text);
  if (!address || address->family() != family) return std::nullopt;
  return address->unmapped();
}

// The line without "PROXY " and without its end.
std::optional<ProxyHeader> read_line1(std::string_view line) {
  const std::string_view protocol = take_word(line);
  if (protocol == "UNKNOWN") return ProxyHeader{};  // nothing behind it counts
  if (protocol != "TCP4" && protocol != "TCP6") return std::nullopt;
  const auto family = protocol == "TCP4" ? IpAddress::Family::v4 : IpAddress::Family::v6;
  const std::optional<IpAddress> source = parse_address1(take_word(line), family);
  const std::optional<IpAddress> destination = parse_address1(take_word(line), family);
  const std::optional<uint16_t> source_port = parse_port1(take_word(line));
  const std::optional<uint16_t> destination_port = parse_port1(line);
  if (!source || !destination || !source_port || !destination_port) return std::nullopt;
  return ProxyHeader{ConnectionEnds{*source, *destination, *source_port, *destination_port}};
}

// Needs more while `bytes` could still begin with `expected`.
Parse<size_t> match_start(std::string_view bytes, std::string_view expected) {
  const std::string_view seen = bytes.substr(0, expected.size());
  if (!expected.starts_with(seen)) return Parse<size_t>::fail(Errc::malformed);
  if (seen.size() < expected.size()) return Parse<size_t>::need_more();
  return Parse<size_t>::done(expected.size(), expected.size());
}

ParseHeader parse1(std::string_view bytes) {
  const Parse<size_t> start = match_start(bytes, kLineStart1);
  if (start.failed()) return ParseHeader::fail(start.error());
  if (start.needs_more()) return ParseHeader::need_more();

  // Neither CR nor LF stands in a line alone.
  const std::string_view line = bytes.substr(0, kProxyHeader1BytesMax);
  const size_t end = line.find_first_of("\r\n");
  if (end != line.npos && line[end] == '\n') return ParseHeader::fail(Errc::malformed);
  if (end == line.npos || end + 1 == line.size())
    return line.size() < kProxyHeader1BytesMax ? ParseHeader::need_more()
                                               : ParseHeader::fail(Errc::malformed);
  if (line[end + 1] != '\n') return ParseHeader::fail(Errc::malformed);

  const std::optional<ProxyHeader> header =
      read_line1(line.substr(kLineStart1.size(), end - kLineStart1.size()));
  if (!header) return ParseHeader::fail(Errc::malformed);
  return ParseHeader::done(*header, end + 2);
}

// ---- version 2: binary (section 2.2) ----

std::optional<ConnectionEnds> read_ends2(ByteSpan block, uint8_t family) {
  const auto address_at = [&](size_t at) {
    return family == kInet ? IpAddress::v4(&block[at]) : IpAddress::v6(&block[at]).unmapped();
  };
  const size_t bytes = family == kInet ? 4 : 16;
  return ConnectionEnds{address_at(0), address_at(bytes), load_u16(&block[2 * bytes]),
                        load_u16(&block[2 * bytes + 2])};
}

// The checksum is that of the header with zeros in its place.
bool fits_checksum(ByteSpan header, ByteSpan checksum) {
  const size_t at = static_cast<size_t>(checksum.data() - header.data());
  constexpr std::array<uint8_t, kCrc32cBytes> kZeros{};
  Crc32c crc;
  crc.add(header.first(at));
  crc.add(kZeros);
  crc.add(header.subspan(at + kCrc32cBytes));
  const uint32_t told = uint32_t{load_u16(&checksum[0])} << 16 | load_u16(&checksum[2]);
  return told == crc.value();
}

// Whether the TLVs, the last part of `header`, add up, and its checksum fits where it has one.
bool are_tlvs_sound(ByteSpan tlvs, ByteSpan header) {
  std::optional<ByteSpan> checksum;
  while (!tlvs.empty()) {
    if (tlvs.size() < kTlvHeadBytes) return false;
    const size_t length = load_u16(&tlvs[1]);
    if (length > tlvs.size() - kTlvHeadBytes) return false;
    const ByteSpan value = tlvs.subspan(kTlvHeadBytes, length);
    if (tlvs[0] == static_cast<uint8_t>(TlvType::crc32c)) {
      if (checksum || length != kCrc32cBytes) return false;
      checksum = value;
    }
    tlvs = tlvs.subspan(kTlvHeadBytes + length);
  }
  return !checksum || fits_checksum(header, *checksum);
}

// `header` is whole, its first 16 bytes are good.
std::optional<ProxyHeader> read_block2(ByteSpan header) {
  const uint8_t family = header[kFamilyAt2] >> 4;
  const uint8_t transport = header[kFamilyAt2] & 0x0f;
  // Nothing tells where in the block of these the addresses end and TLVs begin.
  const bool is_local = header[kCommandAt2] == kVersionAndLocal;
  if (is_local || family == kUnspecified || transport == kUnspecified) return ProxyHeader{};

  const ByteSpan block = header.subspan(kHeadBytes2);
  const size_t ends_bytes = ends_bytes_of(family);
  if (block.size() < ends_bytes) return std::nullopt;
  if (!are_tlvs_sound(block.subspan(ends_bytes), header)) return std::nullopt;
  if (transport != kStream || family == kUnix) return ProxyHeader{};
  return ProxyHeader{read_ends2(block, family)};
}

// Command, family and transport, as far as they are there. A LOCAL header's are not looked at.
bool may_begin2(ByteSpan bytes) {
  if (bytes.size() <= kCommandAt2) return true;
  if (bytes[kCommandAt2] == kVersionAndLocal) return true;
  if (bytes[kCommandAt2] != kVersionAndProxy) return false;
  if (bytes.size() <= kFamilyAt2) return true;
  return bytes[kFamilyAt2] >> 4 <= kUnix && (bytes[kFamilyAt2] & 0x0f) <= kDatagram;
}

ParseHeader parse2(ByteSpan bytes) {
  const Parse<size_t> start = match_start(as_text(bytes), kSignature2);
  if (start.failed()) return ParseHeader::fail(start.error());
  if (!may_begin2(bytes)) return ParseHeader::fail(Errc::malformed);
  if (bytes.size() < kHeadBytes2) return ParseHeader::need_more();
  const size_t header_bytes = kHeadBytes2 + load_u16(&bytes[kLengthAt2]);
  if (header_bytes > kProxyHeader2BytesMax) return ParseHeader::fail(Errc::too_large);
  if (bytes.size() < header_bytes) return ParseHeader::need_more();
  const std::optional<ProxyHeader> header = read_block2(bytes.first(header_bytes));
  if (!header) return ParseHeader::fail(Errc::malformed);
  return ParseHeader::done(*header, header_bytes);
}

}  // namespace

Parse<ProxyHeader> parse_proxy_header(ByteSpan bytes) {
  if (bytes.empty()) return ParseHeader::need_more();
  const bool is_text = bytes[0] == static_cast<uint8_t>(kLineStart1[0]);
  return is_text ? parse1(as_text(bytes)) : parse2(bytes);
}

}  // namespace headrace::preface
