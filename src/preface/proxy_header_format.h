// How the PROXY protocol's headers are laid out, for those who read and write them (sections 2.1
// and 2.2 of its specification).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace headrace::preface {

using namespace std::string_view_literals;

inline constexpr std::string_view kLineStart1 = "PROXY ";

// Version 2: signature, version and command, family and transport, length of what follows; then
// both addresses, both ports, TLVs.
inline constexpr std::string_view kSignature2 = "\r\n\r\n\0\r\nQUIT\n"sv;
inline constexpr size_t kCommandAt2 = 12;
inline constexpr size_t kFamilyAt2 = 13;
inline constexpr size_t kLengthAt2 = 14;
inline constexpr size_t kHeadBytes2 = 16;

inline constexpr uint8_t kVersionAndLocal = 0x20;
inline constexpr uint8_t kVersionAndProxy = 0x21;

// Families, the upper half of their byte; kUnspecified is a transport as well.
inline constexpr uint8_t kUnspecified = 0;
inline constexpr uint8_t kInet = 1;
inline constexpr uint8_t kInet6 = 2;
inline constexpr uint8_t kUnix = 3;
// Transports, the lower half.
inline constexpr uint8_t kStream = 1;
inline constexpr uint8_t kDatagram = 2;

// Of both addresses with their ports.
inline constexpr size_t ends_bytes_of(uint8_t family) {
  switch (family) {
    case kInet:
      return 2 * (4 + 2);
    case kInet6:
      return 2 * (16 + 2);
    case kUnix:
      return 2 * 108;
    default:
      return 0;
  }
}

inline constexpr size_t kTlvHeadBytes = 3;
inline constexpr size_t kCrc32cBytes = 4;

}  // namespace headrace::preface
