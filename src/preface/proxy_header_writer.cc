#include "base/check.h"
#include "preface/proxy_header.h"
#include "preface/proxy_header_format.h"

namespace headrace::preface {
namespace {

bool can_be_told(const std::optional<ConnectionEnds>& ends) {
  return ends && ends->source.family() == ends->destination.family();
}

void append_address(std::string& out, const IpAddress& address) {
  out.append(as_text({address.bytes(), address.size()}));
}

}  // namespace

void append_tlv(std::string& out, TlvType type, std::string_view value) {
  HEADRACE_ASSERT(value.size() <= UINT16_MAX);
  append_u8(out, static_cast<uint8_t>(type));
  append_u16(out, static_cast<uint16_t>(value.size()));
  out.append(value);
}

void append_proxy_header1(std::string& out, const std::optional<ConnectionEnds>& ends) {
  out += kLineStart1;
  if (can_be_told(ends)) {
    out += ends->source.is_v4() ? "TCP4 " : "TCP6 ";
    out += ends->source.to_string() + ' ' + ends->destination.to_string() + ' ';
    out += std::to_string(ends->source_port) + ' ' + std::to_string(ends->destination_port);
  } else {
    out += "UNKNOWN";
  }
  out += "\r\n";
}

void append_proxy_header2(std::string& out, const std::optional<ConnectionEnds>& ends,
                          std::string_view tlvs) {
  const bool told = can_be_told(ends);
  uint8_t family = kUnspecified;
  if (told) family = ends->source.is_v4() ? kInet : kInet6;
  const size_t block_bytes = ends_bytes_of(family) + tlvs.size();
  HEADRACE_ASSERT(kHeadBytes2 + block_bytes <= kProxyHeader2BytesMax);

  out += kSignature2;
  append_u8(out, kVersionAndProxy);
  append_u8(out, told ? static_cast<uint8_t>(family << 4 | kStream) : kUnspecified);
  append_u16(out, static_cast<uint16_t>(block_bytes));
  if (told) {
    append_address(out, ends->source);
    append_address(out, ends->destination);
    append_u16(out, ends->source_port);
    append_u16(out, ends->destination_port);
  }
  out += tlvs;
}

}  // namespace headrace::preface
