// ClientHellos made by hand, field by field, so that a test can get any one of them wrong.
#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"

namespace headrace::preface {

using namespace std::string_literals;

inline std::string vector8(std::string_view bytes) {
  std::string out;
  append_u8(out, static_cast<uint8_t>(bytes.size()));
  return out.append(bytes);
}
inline std::string vector16(std::string_view bytes) {
  std::string out;
  append_u16(out, static_cast<uint16_t>(bytes.size()));
  return out.append(bytes);
}

inline std::string extension(uint16_t type, std::string_view data) {
  std::string out;
  append_u16(out, type);
  return out + vector16(data);
}
inline std::string name_entry(std::string_view name, uint8_t type = 0) {
  std::string out;
  append_u8(out, type);
  return out + vector16(name);
}
// A server_name extension of these entries.
inline std::string server_name(std::string_view entries) {
  return extension(0, vector16(entries));
}

// The fields of a body, each as it stands on the wire.
struct HelloFields {
  std::string version = "\x03\x03"s;
  std::string random = std::string(32, 'r');
  std::string session_id = vector8(std::string(32, 's'));
  std::string cipher_suites = vector16("\x13\x01\x13\x02"s);
  std::string compression_methods = vector8("\0"s);
  std::string extensions = {};  // with their length

  std::string body() const {
    return version + random + session_id + cipher_suites + compression_methods + extensions;
  }
};

inline std::string handshake(std::string_view body, uint8_t type = 1) {
  std::string out;
  append_u8(out, type);
  append_u8(out, static_cast<uint8_t>(body.size() >> 16));
  append_u16(out, static_cast<uint16_t>(body.size()));
  return out.append(body);
}
inline std::string record(std::string_view payload, uint8_t type = 22) {
  std::string out;
  append_u8(out, type);
  append_u16(out, 0x0301);
  return out + vector16(payload);
}
// The message in records of that many bytes each.
inline std::string records(std::string_view message, size_t bytes_each) {
  std::string out;
  for (size_t at = 0; at < message.size(); at += bytes_each)
    out += record(message.substr(at, bytes_each));
  return out;
}

// A message with these extensions.
inline std::string hello_message(std::string_view extensions) {
  HelloFields fields;
  fields.extensions = vector16(extensions);
  return handshake(fields.body());
}
inline std::string hello_for(std::string_view name) {
  return record(hello_message(extension(43, "\x02\x03\x04"s) + server_name(name_entry(name)) +
                              extension(16, "\0\x03\x02h2"s)));
}

}  // namespace headrace::preface
