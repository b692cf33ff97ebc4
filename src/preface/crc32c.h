// CRC32c (Castagnoli; RFC 4960 appendix B), as the PROXY protocol's checksum has it.
#pragma once

#include <array>
#include <cstdint>

#include "base/bytes.h"

namespace headrace::preface {

class Crc32c {
 public:
  void add(ByteSpan bytes) {
    for (const uint8_t byte : bytes) value_ = kTable[(value_ ^ byte) & 0xff] ^ (value_ >> 8);
  }
  uint32_t value() const { return ~value_; }

 private:
  using Table = std::array<uint32_t, 256>;
  static constexpr Table make_table() {
    constexpr uint32_t kPolynomial = 0x82f63b78;  // its bits reversed
    Table table{};
    for (uint32_t byte = 0; byte < table.size(); ++byte) {
      uint32_t value = byte;
      for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? kPolynomial : 0);
      table[byte] = value;
    }
    return table;
  }
  static const Table kTable;

  uint32_t value_ = 0xffffffff;
};

inline constexpr Crc32c::Table Crc32c::kTable = Crc32c::make_table();

}  // namespace headrace::preface
