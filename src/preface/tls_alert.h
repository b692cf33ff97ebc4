// How a TLS client is told that there will be no handshake (RFC 8446 section 6.2). Clients show it
// to their users, where a connection that just ends looks like a fault of the network.
#pragma once

#include <cstdint>
#include <string>

#include "base/bytes.h"

namespace headrace::preface {

enum class Alert : uint8_t {
  illegal_parameter = 47,   // a field holds what it must not
  decode_error = 50,        // the message breaks its syntax or its limits
  internal_error = 80,      // nothing that the client did
  missing_extension = 109,  // a server name is needed (section 9.2)
  unrecognized_name = 112,  // nobody is served under that name here
};

// A record with one fatal alert. Its version is that of TLS 1.2, as every client understands.
inline void append_alert(std::string& out, Alert alert) {
  constexpr uint8_t kAlertRecord = 21;
  constexpr uint16_t kVersion = 0x0303;
  constexpr uint8_t kFatal = 2;
  append_u8(out, kAlertRecord);
  append_u16(out, kVersion);
  append_u16(out, 2);
  append_u8(out, kFatal);
  append_u8(out, static_cast<uint8_t>(alert));
}

}  // namespace headrace::preface
