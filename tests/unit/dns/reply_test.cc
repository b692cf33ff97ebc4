#include "dns/reply.h"

#include <gtest/gtest.h>

#include <string>

#include "messages.h"

namespace headrace::dns {
namespace {

constexpr auto kV4 = IpAddress::Family::v4;
constexpr auto kV6 = IpAddress::Family::v6;
const Question kQuestion{0x1234, "o.example.test", kA};

std::optional<Reply> parse(const Message& message, IpAddress::Family family = kV4) {
  return parse_reply(as_bytes(message.bytes()), family);
}

TEST(reply, addresses_of_the_family_asked_for_are_taken) {
  const Message message = Message(kQuestion).a("192.0.2.1").aaaa("2001:db8::1").a("192.0.2.2");
  const auto four = parse(message);
  ASSERT_TRUE(four);
  EXPECT_EQ(four->kind, Reply::Kind::addresses);
  ASSERT_EQ(four->addresses.size(), 2u);
  EXPECT_EQ(four->addresses[1].to_string(), "192.0.2.2");
  const auto six = parse(message, kV6);
  ASSERT_TRUE(six);
  ASSERT_EQ(six->addresses.size(), 1u);
  EXPECT_EQ(six->addresses[0].to_string(), "2001:db8::1");
}

TEST(reply, the_shortest_ttl_counts_and_one_with_the_top_bit_is_zero) {
  EXPECT_EQ(parse(Message(kQuestion).a("192.0.2.1", 300).a("192.0.2.2", 60))->ttl_seconds, 60u);
  EXPECT_EQ(parse(Message(kQuestion).cname("end.test", 30).a("192.0.2.1", 60))->ttl_seconds, 30u);
  EXPECT_EQ(parse(Message(kQuestion).a("192.0.2.1", 0x8000'0000))->ttl_seconds, 0u);
}

TEST(reply, no_more_than_so_many_addresses_are_kept) {
  Message message(kQuestion);
  for (size_t i = 0; i < kAddressesMax + 10; ++i) message.a("192.0.2.1");
  EXPECT_EQ(parse(message)->addresses.size(), kAddressesMax);
}

TEST(reply, what_is_not_there_is_told_from_what_failed) {
  EXPECT_EQ(parse(Message(kQuestion))->kind, Reply::Kind::no_address);
  EXPECT_EQ(parse(Message(kQuestion).cname("end.test"))->kind, Reply::Kind::no_address);
  EXPECT_EQ(parse(Message(kQuestion).aaaa("2001:db8::1"))->kind, Reply::Kind::no_address);
  EXPECT_EQ(parse(Message(kQuestion).code(kNxDomain))->kind, Reply::Kind::no_name);
  for (const uint16_t code : std::initializer_list<uint16_t>{1, 2, 4, 5, 9, 15}) {
    EXPECT_EQ(parse(Message(kQuestion).code(code).a("192.0.2.1"))->kind, Reply::Kind::failure)
        << code;
  }
}

TEST(reply, a_negative_answer_holds_for_the_lesser_of_soa_minimum_and_soa_ttl) {
  EXPECT_EQ(parse(Message(kQuestion).code(kNxDomain).soa(3'600, 900))->ttl_seconds, 900u);
  EXPECT_EQ(parse(Message(kQuestion).code(kNxDomain).soa(60, 900))->ttl_seconds, 60u);
  EXPECT_EQ(parse(Message(kQuestion).soa(60, 900))->ttl_seconds, 60u);
  EXPECT_EQ(parse(Message(kQuestion).code(kNxDomain))->ttl_seconds, std::nullopt);
  // The alias may be kept; that its end does not exist is for the SOA record to say.
  EXPECT_EQ(parse(Message(kQuestion).code(kNxDomain).cname("end.test", 300))->ttl_seconds,
            std::nullopt);
}

TEST(reply, an_answer_cut_anywhere_is_none) {
  for (const Message& message : {Message(kQuestion).cname("end.test").a("192.0.2.1"),
                                 Message(kQuestion).code(kNxDomain).soa(60)}) {
    const std::string whole = message.bytes();
    ASSERT_TRUE(parse_reply(as_bytes(whole), kV4));
    for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
      EXPECT_FALSE(parse_reply(as_bytes(whole).first(bytes), kV4)) << bytes;
    }
  }
}

TEST(reply, what_breaks_the_format_is_no_answer) {
  std::string question = Message(kQuestion).a("192.0.2.1").bytes();
  question[2] = 0x01;  // as our own question has it
  EXPECT_FALSE(parse_reply(as_bytes(question), kV4)) << "a question";

  EXPECT_FALSE(parse(Message(kQuestion).answer(kA, "\1\2\3"))) << "an address of three bytes";
  EXPECT_FALSE(parse(Message(kQuestion).answer(kAaaa, "\1\2\3\4"), kV6)) << "an AAAA of four bytes";
  EXPECT_FALSE(parse(Message(kQuestion).authority(kSoa, std::string(2, '\0'), 60)))
      << "a short SOA";

  std::string reserved = Message(kQuestion).bytes();
  reserved[12] = static_cast<char>(0x80);
  EXPECT_FALSE(parse_reply(as_bytes(reserved), kV4)) << "a reserved label type";
}

}  // namespace
}  // namespace headrace::dns
