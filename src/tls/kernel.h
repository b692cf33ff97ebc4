// TLS that the kernel does on a TCP socket (kTLS, linux/tls.h): handing it keys, and what it says
// of records that are no data. Everybody else then reads and writes the socket as if it were plain.
#pragma once

#include <cstdint>

#include "net/socket.h"
#include "tls/traffic_key.h"

namespace headrace::tls {

enum class Way : uint8_t { receiving, sending };

}  // namespace headrace::tls

namespace headrace::tls::kernel {

// Whether this kernel can do it at all. Asked once.
bool has_tls();

// From now on the kernel opens, or makes, the records of that way. What was received before must
// have ended with a whole record, and what is to be sent have left. False where the kernel cannot,
// the suite say: then everything is as it was.
bool install(int fd, Way way, const TrafficKey& key);

// The socket's next bytes, all of one kind of record.
net::IoResult receive(net::Socket& socket, MutableByteSpan buffer, uint8_t& record_type);

net::IoResult send_alert(net::Socket& socket, uint8_t level, uint8_t description);

}  // namespace headrace::tls::kernel
