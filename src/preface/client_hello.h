// The server that a TLS client wants, read from its ClientHello (RFC 8446 section 4.1.2, RFC 5246
// section 7.4.1.2) without taking part in the handshake. Pure; safe from any thread.
//
// Nothing is consumed: who passes the connection on sends every byte to the server, which judges
// what is not looked at here. What two servers could read differently is refused: a name given
// twice, lengths that do not add up, bytes behind the message in its record.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/parse.h"

namespace headrace::preface {

// Whether a TLS connection can begin so: a record of the handshake (RFC 8446 section 5.1).
inline constexpr uint8_t kTlsHandshake = 22;

struct ClientHello {
  // The host_name of the server_name extension (RFC 6066 section 3) as it was sent: 1 to 65,535
  // bytes of any kind. Absent where the client named none.
  std::optional<std::string> server_name;
};

// Reads one client's ClientHello however it is cut, into segments or into TLS records. What was
// seen is not looked at again before the message is whole, so that a client gains nothing by
// sending many small pieces.
class ClientHelloReader {
 public:
  // The message with its four bytes of head. With post-quantum key shares it has 2 to 4 KB, with
  // long tickets or encrypted hellos more.
  static constexpr size_t kHelloBytesMax = 64 * 1024;
  // The same as received, in its records: those of a usual size add five bytes to 16 KB. It bounds
  // what is kept of a client who sends records of a few bytes.
  static constexpr size_t kReceivedBytesMax = 128 * 1024;

  // `bytes`: everything received so far, with what was given before in front. Fails with
  // Errc::malformed or Errc::too_large; consumed_bytes() ends where the record does that ends the
  // message.
  Parse<ClientHello> read(ByteSpan bytes);

 private:
  size_t records_bytes_ = 0;  // of the whole records that were seen
  size_t message_bytes_ = 0;  // of the handshake message in them
  size_t hello_bytes_ = 0;    // how long it says to be; 0: not yet known
};

}  // namespace headrace::preface
