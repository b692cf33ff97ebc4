#include "tls/traffic_key.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace headrace::tls {
namespace {

std::vector<uint8_t> bytes_of(std::string_view hex) {
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<uint8_t>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  return bytes;
}

std::vector<uint8_t> front(ByteSpan bytes, size_t count) {
  return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count)};
}

// RFC 8448 section 3, the application data keys of both sides.
TEST(TrafficKey, IsThatOfTheTrace) {
  const auto server = make_traffic_key(
      kAes128Gcm, bytes_of("a11af9f05531f856ad47116b45a950328204b4f44bfb6b3a4b4f1f3fcb631643"), 3);
  ASSERT_TRUE(server);
  EXPECT_EQ(front(server->key, 16), bytes_of("9f02283b6c9c07efc26bb9f2ac92e356"));
  EXPECT_EQ(front(server->iv, 12), bytes_of("cf782b88dd83549aadf1e984"));
  EXPECT_EQ(server->sequence, 3u);
  const auto client = make_traffic_key(
      kAes128Gcm, bytes_of("9e40646ce79a7f9dc05af8889bce6552875afa0b06df0087f792ebb7c17504a5"), 0);
  ASSERT_TRUE(client);
  EXPECT_EQ(front(client->key, 16), bytes_of("17422dda596ed5d9acd890e3c63f5051"));
  EXPECT_EQ(front(client->iv, 12), bytes_of("5b78923dee08579033e523d9"));
}

TEST(TrafficKey, IsAsLongAsItsSuiteWants) {
  const std::vector<uint8_t> secret(48, 7);
  const auto aes_256 = make_traffic_key(kAes256Gcm, secret, 0);
  const auto chacha = make_traffic_key(kChaCha20Poly1305, ByteSpan(secret).first(32), 0);
  ASSERT_TRUE(aes_256 && chacha);
  EXPECT_NE(front(ByteSpan(aes_256->key).subspan(16), 16), std::vector<uint8_t>(16, 0));
  EXPECT_NE(front(ByteSpan(chacha->key).subspan(16), 16), std::vector<uint8_t>(16, 0));
  EXPECT_NE(aes_256->key, chacha->key);
}

TEST(TrafficKey, OfOtherSuitesThereIsNone) {
  const std::vector<uint8_t> secret(32, 7);
  for (uint16_t suite : std::initializer_list<uint16_t>{0, 0x1300, 0x1304, 0xC02F})
    EXPECT_FALSE(make_traffic_key(suite, secret, 0)) << suite;
}

}  // namespace
}  // namespace headrace::tls
