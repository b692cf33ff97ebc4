#include "dns/reply.h"

#include <algorithm>

namespace headrace::dns {
namespace {

constexpr uint16_t kClassInternet = 1;
constexpr uint16_t kTypeA = 1;
constexpr uint16_t kTypeCname = 5;
constexpr uint16_t kTypeSoa = 6;
constexpr uint16_t kTypeAaaa = 28;

constexpr uint16_t kFlagResponse = 0x8000;
constexpr uint16_t kCodeMask = 0x000f;
constexpr uint16_t kCodeNoError = 0;
constexpr uint16_t kCodeNoName = 3;

// Reads from front to back. Beyond the end everything reads as zero and the reader has failed.
class Reader {
 public:
  explicit Reader(ByteSpan message) : rest_(message) {}

  bool failed() const { return failed_; }
  size_t left() const { return rest_.size(); }

  ByteSpan bytes(size_t count) {
    if (count > rest_.size()) {
      failed_ = true;
      rest_ = {};
      return {};
    }
    const ByteSpan taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }
  uint8_t u8() {
    const ByteSpan taken = bytes(1);
    return failed_ ? uint8_t{0} : taken[0];
  }
  uint16_t u16() {
    const ByteSpan taken = bytes(2);
    return failed_ ? uint16_t{0} : load_u16(taken.data());
  }
  uint32_t u32() {
    const uint32_t high = u16();
    return (high << 16) | u16();
  }

  // A name ends with the empty label or with a pointer to the rest of it (RFC 1035 section 4.1.4).
  void skip_name() {
    for (;;) {
      const uint8_t length = u8();
      if (length == 0) return;
      if (length >= 0xc0) {
        u8();
        return;
      }
      if (length >= 0x40) failed_ = true;  // reserved label types
      if (failed_) return;
      bytes(length);
    }
  }

 private:
  ByteSpan rest_;
  bool failed_ = false;
};

struct Record {
  uint16_t type = 0;
  uint16_t class_code = 0;
  uint32_t ttl_seconds = 0;
  ByteSpan data;
};

Record read_record(Reader& reader) {
  Record record;
  reader.skip_name();
  record.type = reader.u16();
  record.class_code = reader.u16();
  const uint32_t ttl = reader.u32();
  record.ttl_seconds = ttl > INT32_MAX ? 0 : ttl;  // RFC 2181 section 8
  const size_t data_bytes = reader.u16();
  record.data = reader.bytes(data_bytes);
  return record;
}

void shorten(std::optional<uint32_t>& ttl_seconds, uint32_t to) {
  ttl_seconds = std::min(ttl_seconds.value_or(to), to);
}

// The answer section: aliases, and the addresses at their end. The server is trusted to have
// followed the aliases, so which record belongs to which name is not looked at.
bool read_answers(Reader& reader, size_t count, IpAddress::Family family, Reply& reply) {
  const bool v4 = family == IpAddress::Family::v4;
  for (size_t i = 0; i < count; ++i) {
    const Record record = read_record(reader);
    if (reader.failed()) return false;
    if (record.class_code != kClassInternet) continue;
    if (record.type == kTypeCname) shorten(reply.ttl_seconds, record.ttl_seconds);
    if (record.type != (v4 ? kTypeA : kTypeAaaa)) continue;
    if (record.data.size() != (v4 ? 4u : 16u)) return false;
    shorten(reply.ttl_seconds, record.ttl_seconds);
    if (reply.addresses.size() < kAddressesMax)
      reply.addresses.push_back(v4 ? IpAddress::v4(record.data.data())
                                   : IpAddress::v6(record.data.data()));
  }
  return true;
}

// The authority section of a negative answer: how long the zone lets it be kept.
bool read_negative_ttl(Reader& reader, size_t count, Reply& reply) {
  reply.ttl_seconds.reset();
  for (size_t i = 0; i < count; ++i) {
    const Record record = read_record(reader);
    if (reader.failed()) return false;
    if (record.type != kTypeSoa || record.class_code != kClassInternet) continue;
    Reader data(record.data);
    data.skip_name();                                          // the zone's first server
    data.skip_name();                                          // who looks after it
    for (int skipped = 0; skipped < 4; ++skipped) data.u32();  // serial, refresh, retry, expire
    const uint32_t minimum_seconds = data.u32();
    if (data.failed()) return false;
    shorten(reply.ttl_seconds, std::min(record.ttl_seconds, minimum_seconds));
  }
  return true;
}

}  // namespace

std::optional<Reply> parse_reply(ByteSpan message, IpAddress::Family family) {
  Reader reader(message);
  reader.u16();  // id
  const uint16_t flags = reader.u16();
  const size_t questions = reader.u16();
  const size_t answers = reader.u16();
  const size_t authorities = reader.u16();
  reader.u16();  // additional records
  if (reader.failed() || !(flags & kFlagResponse)) return std::nullopt;

  Reply reply;
  const uint16_t code = flags & kCodeMask;
  if (code != kCodeNoError && code != kCodeNoName) return reply;

  for (size_t i = 0; i < questions && !reader.failed(); ++i) {
    reader.skip_name();
    reader.u32();  // type and class
  }
  if (reader.failed()) return std::nullopt;
  if (!read_answers(reader, answers, family, reply)) return std::nullopt;
  if (code == kCodeNoError && !reply.addresses.empty()) {
    reply.kind = Reply::Kind::addresses;
    return reply;
  }
  reply.kind = code == kCodeNoName ? Reply::Kind::no_name : Reply::Kind::no_address;
  reply.addresses.clear();
  if (!read_negative_ttl(reader, authorities, reply)) return std::nullopt;
  return reply;
}

}  // namespace headrace::dns
