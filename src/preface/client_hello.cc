#include "preface/client_hello.h"

#include <algorithm>
#include <array>

namespace headrace::preface {
namespace {

using ParseHello = Parse<ClientHello>;

// Record layer, RFC 8446 section 5.1. The version's second byte is whatever the client likes.
constexpr uint8_t kVersionMajor = 3;
constexpr size_t kRecordHeadBytes = 5;
constexpr size_t kRecordBytesMax = 16 * 1024;  // what follows the head, while nothing is encrypted

// Handshake, RFC 8446 section 4.
constexpr uint8_t kClientHello = 1;
constexpr size_t kMessageHeadBytes = 4;
constexpr size_t kRandomBytes = 32;
constexpr size_t kSessionIdBytesMax = 32;
constexpr uint16_t kServerNameExtension = 0;
constexpr uint8_t kHostName = 0;  // RFC 6066 section 3

// Takes fields from the front. What is not there makes it bad, and then everything is empty: one
// look at good() after several steps is enough.
class Fields {
 public:
  explicit Fields(ByteSpan bytes) : rest_(bytes) {}

  bool good() const { return good_; }
  bool at_end() const { return rest_.empty(); }

  ByteSpan take(size_t bytes) {
    if (bytes > rest_.size()) {
      good_ = false;
      rest_ = {};
      return {};
    }
    const ByteSpan taken = rest_.first(bytes);
    rest_ = rest_.subspan(bytes);
    return taken;
  }
  uint8_t take_u8() {
    const ByteSpan byte = take(1);
    return byte.empty() ? uint8_t{0} : byte[0];
  }
  uint16_t take_u16() {
    const ByteSpan bytes = take(2);
    return bytes.empty() ? uint16_t{0} : load_u16(bytes.data());
  }
  // A vector with its length in front, in one byte or two.
  ByteSpan take_vector8() { return take(take_u8()); }
  ByteSpan take_vector16() { return take(take_u16()); }

 private:
  ByteSpan rest_;
  bool good_ = true;
};

// False: malformed. Names of other types are passed over: RFC 6066 wants their length to be told as
// a host name's is.
bool read_server_name(ByteSpan extension, ClientHello& hello) {
  Fields outer(extension);
  Fields list(outer.take_vector16());
  if (!outer.good() || !outer.at_end() || list.at_end()) return false;
  while (!list.at_end()) {
    const uint8_t type = list.take_u8();
    const ByteSpan name = list.take_vector16();
    if (!list.good()) return false;
    if (type != kHostName) continue;
    if (name.empty() || hello.server_name) return false;
    hello.server_name = as_text(name);
  }
  return true;
}

bool read_extensions(ByteSpan bytes, ClientHello& hello) {
  Fields extensions(bytes);
  bool named = false;
  while (!extensions.at_end()) {
    const uint16_t type = extensions.take_u16();
    const ByteSpan extension = extensions.take_vector16();
    if (!extensions.good()) return false;
    if (type != kServerNameExtension) continue;
    if (named || !read_server_name(extension, hello)) return false;
    named = true;
  }
  return true;
}

// The message without its head. RFC 5246 lets the extensions be absent altogether.
bool read_body(ByteSpan body, ClientHello& hello) {
  Fields fields(body);
  fields.take_u16();  // legacy_version
  fields.take(kRandomBytes);
  const ByteSpan session_id = fields.take_vector8();
  const ByteSpan cipher_suites = fields.take_vector16();
  const ByteSpan compression_methods = fields.take_vector8();
  if (!fields.good() || session_id.size() > kSessionIdBytesMax) return false;
  if (cipher_suites.empty() || cipher_suites.size() % 2 != 0 || compression_methods.empty())
    return false;
  if (fields.at_end()) return true;
  const ByteSpan extensions = fields.take_vector16();
  return fields.good() && fields.at_end() && read_extensions(extensions, hello);
}

// What the record at the front of `bytes` carries; needs more where it is not whole.
Parse<ByteSpan> read_record(ByteSpan bytes) {
  using ParseRecord = Parse<ByteSpan>;
  if (!bytes.empty() && bytes[0] != kTlsHandshake) return ParseRecord::fail(Errc::malformed);
  if (bytes.size() > 1 && bytes[1] != kVersionMajor) return ParseRecord::fail(Errc::malformed);
  if (bytes.size() < kRecordHeadBytes) return ParseRecord::need_more();
  const size_t length = load_u16(&bytes[3]);
  // Records of a handshake message are never empty.
  if (length == 0 || length > kRecordBytesMax) return ParseRecord::fail(Errc::malformed);
  if (bytes.size() < kRecordHeadBytes + length) return ParseRecord::need_more();
  return ParseRecord::done(bytes.subspan(kRecordHeadBytes, length), kRecordHeadBytes + length);
}

// The first bytes of the message, out of whole records that hold as many.
void copy_message(ByteSpan records, MutableByteSpan out) {
  while (!out.empty()) {
    const Parse<ByteSpan> record = read_record(records);
    HEADRACE_ASSERT(record);
    const size_t bytes = std::min(record->size(), out.size());
    std::copy_n(record->begin(), bytes, out.begin());
    out = out.subspan(bytes);
    records = records.subspan(record.consumed_bytes());
  }
}

}  // namespace

Parse<ClientHello> ClientHelloReader::read(ByteSpan bytes) {
  const bool at_limit = bytes.size() >= kReceivedBytesMax;
  const ByteSpan received = bytes.first(std::min(bytes.size(), kReceivedBytesMax));
  while (hello_bytes_ == 0 || message_bytes_ < hello_bytes_) {
    const Parse<ByteSpan> record = read_record(received.subspan(records_bytes_));
    if (record.failed()) return ParseHello::fail(record.error());
    if (record.needs_more())
      return at_limit ? ParseHello::fail(Errc::too_large) : ParseHello::need_more();
    records_bytes_ += record.consumed_bytes();
    message_bytes_ += record->size();
    if (hello_bytes_ != 0 || message_bytes_ < kMessageHeadBytes) continue;

    std::array<uint8_t, kMessageHeadBytes> head;
    copy_message(received, head);
    if (head[0] != kClientHello) return ParseHello::fail(Errc::malformed);
    const size_t body_bytes = size_t{head[1]} << 16 | load_u16(&head[2]);
    if (body_bytes > kHelloBytesMax - kMessageHeadBytes) return ParseHello::fail(Errc::too_large);
    hello_bytes_ = kMessageHeadBytes + body_bytes;
  }
  if (message_bytes_ > hello_bytes_) return ParseHello::fail(Errc::malformed);

  std::string message(hello_bytes_, '\0');
  copy_message(received, {reinterpret_cast<uint8_t*>(message.data()), message.size()});
  ClientHello hello;
  if (!read_body(as_bytes(message).subspan(kMessageHeadBytes), hello))
    return ParseHello::fail(Errc::malformed);
  return ParseHello::done(std::move(hello), records_bytes_);
}

}  // namespace headrace::preface
