#include "http/authorization.h"

#include <gtest/gtest.h>

#include <string>

#include "heads.h"

namespace headrace::http {
namespace {

std::string credentials(std::string_view lines) {
  Request request(lines);
  std::string scratch = "left over from before";
  Result<Credentials> found = proxy_credentials(request.head(), scratch);
  if (found) return std::string(found->user) + "|" + std::string(found->password);
  EXPECT_EQ(found.error().whose, Side::client);
  return std::string(name_of(found.error().what));
}
std::string authorized(std::string_view value) {
  return credentials("Proxy-Authorization: " + std::string(value) + "\r\n");
}

TEST(authorization, B107_the_first_colon_ends_the_user) {
  EXPECT_EQ(authorized("Basic dTpwOnc6"), "u|p:w:");  // u:p:w:
  EXPECT_EQ(authorized("Basic dTpwOnc="), "u|p:w");   // u:p:w
  EXPECT_EQ(authorized("Basic dTo="), "u|");          // u:
  EXPECT_EQ(authorized("Basic Og=="), "|");           // :
  EXPECT_EQ(authorized("Basic OnB3"), "|pw");         // :pw
}

TEST(authorization, B109_all_bytes_and_spellings_of_Basic_are_understood) {
  EXPECT_EQ(authorized("Basic dTpww6Qgw58hQCMi"), "u|p\xc3\xa4 \xc3\x9f!@#\"");
  EXPECT_EQ(authorized("basic dTpw"), "u|p");
  EXPECT_EQ(authorized("BASIC dTpw"), "u|p");
  EXPECT_EQ(authorized("Basic  dTpw"), "u|p");
  EXPECT_EQ(authorized("Basic YT4+Pz86Pj4+Pz8/"), "a>>??|>>>???");
  EXPECT_EQ(credentials("proxy-authorization:Basic dTpw \r\n"), "u|p");
}

TEST(authorization, B109_what_is_no_base64_with_padding_is_refused) {
  for (std::string_view value :
       {"Basic", "Basic ", "Basic dTo", "Basic dTpw=", "Basic dTo==", "Basic dTp",
        "Basic =", "Basic ====", "Basic dTpw====", "Basic dT=w", "Basic dT==dTpw", "Basic dTpw!",
        "Basic dTpw dTpw", "Basic dTpw,", "Basic dTpwOnd=", "Basic dTq=", "Basic dT-_",
        "Basic d\xc3\xa4pw"})
    EXPECT_EQ(authorized(value), "unauthorized") << value;
}

TEST(authorization, B109_other_schemes_and_nothing_are_unauthorized) {
  EXPECT_EQ(credentials(""), "unauthorized");
  EXPECT_EQ(credentials("Authorization: Basic dTpw\r\n"), "unauthorized");
  for (std::string_view value :
       {"", "Bearer dTpw", "BasicdTpw", "Basic\tdTpw", "Negotiate dTpw", "dTpw", "Basicx dTpw"})
    EXPECT_EQ(authorized(value), "unauthorized") << value;
}

TEST(authorization, B109_credentials_without_colon_or_with_controls_are_refused) {
  EXPECT_EQ(authorized("Basic dXA="), "unauthorized");      // up
  EXPECT_EQ(authorized("Basic dTpwAA=="), "unauthorized");  // u:p\0
  EXPECT_EQ(authorized("Basic dQo6cA=="), "unauthorized");  // u\n:p
  EXPECT_EQ(authorized("Basic dTpwfw=="), "unauthorized");  // u:p\x7f
}

TEST(authorization, B109_two_fields_are_malformed) {
  constexpr std::string_view kTwice =
      "Proxy-Authorization: Basic dTpw\r\nProxy-Authorization: Basic dTpw\r\n";
  EXPECT_EQ(credentials(kTwice), "malformed");
}

TEST(authorization, B109_ten_KiB_are_just_long) {
  std::string password(7500, 'A');
  std::string encoded = "dTpB";  // u:A
  for (int i = 0; i < 2500; ++i) encoded += "QUFB";
  EXPECT_EQ(authorized("Basic " + encoded), "u|A" + password);
  EXPECT_EQ(authorized("Basic " + encoded + "x"), "unauthorized");
}

}  // namespace
}  // namespace headrace::http
