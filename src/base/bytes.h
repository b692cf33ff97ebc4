// Bytes as protocols see them: spans, text views of them, numbers in network order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace headrace {

using ByteSpan = std::span<const uint8_t>;
using MutableByteSpan = std::span<uint8_t>;

inline ByteSpan as_bytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}
inline std::string_view as_text(ByteSpan bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline uint16_t load_u16(const uint8_t* at) {
  return static_cast<uint16_t>((at[0] << 8) | at[1]);
}
inline void append_u8(std::string& out, uint8_t value) {
  out.push_back(static_cast<char>(value));
}
inline void append_u16(std::string& out, uint16_t value) {
  append_u8(out, static_cast<uint8_t>(value >> 8));
  append_u8(out, static_cast<uint8_t>(value & 0xff));
}

}  // namespace headrace
