#include "access/users.h"

#include <gtest/gtest.h>

#include <string>

namespace headrace::access {
namespace {

using namespace std::string_literals;

Users users_with(std::string_view name, std::string_view password) {
  Users users;
  EXPECT_EQ(users.add(name, password), std::nullopt);
  return users;
}

TEST(users, b107_only_the_exact_password_passes) {
  const Users users = users_with("u", "p:w:");
  EXPECT_TRUE(users.verify("u", "p:w:"));
  for (const std::string& wrong :
       {"p"s, "p:w"s, "p:w::"s, "p:w:\0"s, ""s, "P:W:"s, "q:w:"s, "p:w;"s})
    EXPECT_FALSE(users.verify("u", wrong)) << wrong;
}

TEST(users, b107_a_pair_is_split_at_its_first_colon) {
  Users users;
  EXPECT_EQ(users.add_pair("u:p:w:"), std::nullopt);
  EXPECT_TRUE(users.verify("u", "p:w:"));
  EXPECT_EQ(users.add_pair("only-a-name"), "a user is written NAME:PASSWORD");
  EXPECT_EQ(users.add_pair(":p"), "a user needs a name");
}

TEST(users, nobody_passes_who_is_not_known) {
  EXPECT_FALSE(Users().verify("", ""));
  EXPECT_FALSE(Users().verify("u", "p"));
  const Users users = users_with("alice", "secret");
  for (const char* name : {"", "alic", "alice ", "alicee", "ALICE", "bob"})
    EXPECT_FALSE(users.verify(name, "secret")) << name;
  // The decoy behind an unknown name is equal to nothing.
  for (const std::string& password : {""s, "\0"s, std::string(255, '\0'), std::string(256, '\0')})
    EXPECT_FALSE(users.verify("bob", password));
}

TEST(users, b118_empty_and_short_passwords_are_passwords) {
  const Users users = users_with("a", "");
  EXPECT_TRUE(users.verify("a", ""));
  EXPECT_FALSE(users.verify("a", "\0"s));
  EXPECT_FALSE(users.verify("a", "b"));
  EXPECT_TRUE(users_with("a", "b").verify("a", "b"));
}

TEST(users, b109_passwords_hold_any_byte) {
  EXPECT_TRUE(users_with("u", "p\xc3\xa4 \xc3\x9f!@#\"").verify("u", "p\xc3\xa4 \xc3\x9f!@#\""));
  EXPECT_TRUE(users_with("u", "a\0b"s).verify("u", "a\0b"s));
  EXPECT_FALSE(users_with("u", "a\0b"s).verify("u", "a\0c"s));
  EXPECT_FALSE(users_with("u", "a\0b"s).verify("u", "a"));
}

// A difference in any place counts, also in the last byte, and in the length alone.
TEST(users, long_passwords_are_compared_to_their_end) {
  for (const size_t bytes : {1, 7, 8, 9, 63, 64, 254, 255}) {
    const std::string password(bytes, 'x');
    const Users users = users_with("u", password);
    EXPECT_TRUE(users.verify("u", password));
    EXPECT_FALSE(users.verify("u", password + 'x')) << bytes;
    EXPECT_FALSE(users.verify("u", password.substr(1))) << bytes;
    for (size_t at = 0; at < bytes; ++at) {
      std::string wrong = password;
      wrong[at] = 'y';
      EXPECT_FALSE(users.verify("u", wrong)) << bytes << " at " << at;
    }
  }
  EXPECT_FALSE(users_with("u", std::string(255, 'x')).verify("u", std::string(10'000, 'x')));
}

TEST(users, what_no_client_could_send_is_refused_with_words) {
  Users users;
  EXPECT_EQ(users.add("", "p"), "a user needs a name");
  EXPECT_EQ(users.add("a:b", "p"), "a user's name cannot hold a colon");
  EXPECT_EQ(users.add("a\nb", "p"), "a user's name cannot hold control bytes");
  EXPECT_EQ(users.add(std::string(256, 'a'), "p"), "a user's name has at most 255 bytes");
  EXPECT_EQ(users.add("a", std::string(256, 'p')), "a password has at most 255 bytes");
  EXPECT_TRUE(users.empty());
  EXPECT_EQ(users.add("a", "p"), std::nullopt);
  EXPECT_EQ(users.add("a", "q"), "user 'a' is given twice");
  EXPECT_TRUE(users.verify("a", "p"));
  EXPECT_EQ(users.add("A", "q"), std::nullopt);
}

}  // namespace
}  // namespace headrace::access
