#include "tls/certificates.h"

#include <gtest/gtest.h>

namespace headrace::tls {
namespace {

using namespace std::string_literals;

TEST(certificates, names_are_compared_without_case_and_the_dot_at_the_end) {
  EXPECT_EQ(normal_name("O.Example.TEST."), "o.example.test");
  EXPECT_EQ(normal_name("o.example.test"), "o.example.test");
  EXPECT_EQ(normal_name(""), "");
}

TEST(certificates, alpn_names_are_written_with_their_lengths) {
  EXPECT_EQ(alpn_list("http/1.1"), "\x08http/1.1");
  EXPECT_EQ(alpn_list("h2, http/1.1"), "\x02h2\x08http/1.1");
  EXPECT_EQ(alpn_list(""), "");
}

TEST(certificates, an_alpn_name_that_cannot_be_written_gives_no_list) {
  EXPECT_EQ(alpn_list("h2,,http/1.1"), "");
  EXPECT_EQ(alpn_list(std::string(256, 'x')), "");
}

TEST(certificates, a_text_that_is_none_or_broken_has_no_certificates) {
  EXPECT_TRUE(parse_chain("").empty());
  EXPECT_TRUE(
      parse_chain("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").empty());
  EXPECT_FALSE(parse_key("no key"));
}

}  // namespace
}  // namespace headrace::tls
