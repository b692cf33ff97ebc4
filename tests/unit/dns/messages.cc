#include "messages.h"

#include "base/bytes.h"
#include "base/ip.h"

namespace headrace::dns {
namespace {

constexpr uint16_t kTruncated = 0x0200;
constexpr uint16_t kClassInternet = 1;

void append_u32(std::string& out, uint32_t value) {
  append_u16(out, static_cast<uint16_t>(value >> 16));
  append_u16(out, static_cast<uint16_t>(value & 0xffff));
}

void append_record(std::string& out, uint16_t type, std::string_view data, uint32_t ttl_seconds) {
  append_u16(out, 0xc00c);  // the question's name
  append_u16(out, type);
  append_u16(out, kClassInternet);
  append_u32(out, ttl_seconds);
  append_u16(out, static_cast<uint16_t>(data.size()));
  out += data;
}

std::string address_bytes(std::string_view text) {
  const IpAddress address = IpAddress::parse(text).value();
  return std::string(reinterpret_cast<const char*>(address.bytes()), address.size());
}

}  // namespace

std::string wire_name(std::string_view name) {
  std::string out;
  while (!name.empty()) {
    const std::string_view label = name.substr(0, name.find('.'));
    append_u8(out, static_cast<uint8_t>(label.size()));
    out += label;
    name.remove_prefix(std::min(label.size() + 1, name.size()));
  }
  append_u8(out, 0);
  return out;
}

std::optional<Question> Question::parse(std::string_view message) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(message.data());
  size_t at = 12;
  if (message.size() < at) return std::nullopt;
  Question question;
  question.id = load_u16(bytes);
  while (at < message.size() && bytes[at] != 0) {
    const size_t length = bytes[at];
    if (at + 1 + length >= message.size()) return std::nullopt;
    if (!question.name.empty()) question.name += '.';
    question.name += message.substr(at + 1, length);
    at += 1 + length;
  }
  if (at + 5 > message.size()) return std::nullopt;
  question.type = load_u16(bytes + at + 1);
  return question;
}

Message& Message::code(uint16_t code) {
  flags_ |= code;
  return *this;
}

Message& Message::truncated() {
  flags_ |= kTruncated;
  return *this;
}

Message& Message::named(std::string_view name) {
  question_.name = name;
  return *this;
}

Message& Message::id(uint16_t id) {
  question_.id = id;
  return *this;
}

Message& Message::answer(uint16_t type, std::string_view data, uint32_t ttl_seconds) {
  ++answers_;
  append_record(answer_section_, type, data, ttl_seconds);
  return *this;
}

Message& Message::authority(uint16_t type, std::string_view data, uint32_t ttl_seconds) {
  ++authorities_;
  append_record(authority_section_, type, data, ttl_seconds);
  return *this;
}

Message& Message::a(std::string_view address, uint32_t ttl_seconds) {
  return answer(kA, address_bytes(address), ttl_seconds);
}

Message& Message::aaaa(std::string_view address, uint32_t ttl_seconds) {
  return answer(kAaaa, address_bytes(address), ttl_seconds);
}

Message& Message::any_address(uint32_t ttl_seconds) {
  return question_.type == kA ? a("192.0.2.1", ttl_seconds) : aaaa("2001:db8::1", ttl_seconds);
}

Message& Message::cname(std::string_view name, uint32_t ttl_seconds) {
  return answer(kCname, wire_name(name), ttl_seconds);
}

Message& Message::soa(uint32_t minimum_seconds, uint32_t ttl_seconds) {
  std::string data = wire_name("ns.test") + wire_name("root.test");
  for (uint32_t number : {1u, 7200u, 900u, 1'209'600u, minimum_seconds}) append_u32(data, number);
  return authority(kSoa, data, ttl_seconds);
}

std::string Message::bytes() const {
  std::string out;
  append_u16(out, question_.id);
  append_u16(out, flags_);
  append_u16(out, 1);
  append_u16(out, answers_);
  append_u16(out, authorities_);
  append_u16(out, 0);
  out += wire_name(question_.name);
  append_u16(out, question_.type);
  append_u16(out, kClassInternet);
  return out + answer_section_ + authority_section_;
}

}  // namespace headrace::dns
