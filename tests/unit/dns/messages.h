// DNS messages written by hand: what name servers answer in the tests.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace headrace::dns {

inline constexpr uint16_t kA = 1;
inline constexpr uint16_t kCname = 5;
inline constexpr uint16_t kSoa = 6;
inline constexpr uint16_t kAaaa = 28;

inline constexpr uint16_t kServFail = 2;
inline constexpr uint16_t kNxDomain = 3;
inline constexpr uint16_t kRefused = 5;

// A question as a server sees it.
struct Question {
  uint16_t id = 0;
  std::string name;  // with dots, in the letters that were sent
  uint16_t type = 0;

  static std::optional<Question> parse(std::string_view message);
};

// The labels of a name as a message has them.
std::string wire_name(std::string_view name);

// An answer, built from left to right: Message(question).a("192.0.2.1").bytes().
class Message {
 public:
  explicit Message(const Question& question) : question_(question) {}

  Message& code(uint16_t code);
  Message& truncated();
  // The question as the answer repeats it.
  Message& named(std::string_view name);
  Message& id(uint16_t id);
  Message& a(std::string_view address, uint32_t ttl_seconds = 300);
  Message& aaaa(std::string_view address, uint32_t ttl_seconds = 300);
  Message& cname(std::string_view name, uint32_t ttl_seconds = 300);
  Message& soa(uint32_t minimum_seconds, uint32_t ttl_seconds = 86'400);
  Message& answer(uint16_t type, std::string_view data, uint32_t ttl_seconds = 300);
  Message& authority(uint16_t type, std::string_view data, uint32_t ttl_seconds);
  // Any address that fits the question's type.
  Message& any_address(uint32_t ttl_seconds = 300);

  std::string bytes() const;

 private:
  Question question_;
  uint16_t flags_ = 0x8180;  // an answer, recursion desired and available
  uint16_t answers_ = 0;
  uint16_t authorities_ = 0;
  std::string answer_section_;
  std::string authority_section_;
};

}  // namespace headrace::dns
