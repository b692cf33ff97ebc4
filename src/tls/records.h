// Numbers of TLS on the wire that are needed outside the library (RFC 8446 sections 4, 5.1 and 6).
#pragma once

#include <cstddef>
#include <cstdint>

namespace headrace::tls {

constexpr uint8_t kAlertRecord = 21;
constexpr uint8_t kHandshakeRecord = 22;
constexpr uint8_t kDataRecord = 23;

constexpr uint8_t kNewSessionTicket = 4;
constexpr uint8_t kKeyUpdate = 24;
constexpr size_t kKeyUpdateBytes = 5;
constexpr uint8_t kUpdateRequested = 1;

constexpr uint8_t kWarningLevel = 1;
constexpr uint8_t kCloseNotify = 0;

}  // namespace headrace::tls
