#include "tls/traffic_key.h"

#include <openssl/hmac.h>

#include <algorithm>
#include <string_view>

#include "base/check.h"
#include "tls/library.h"

namespace headrace::tls {
namespace {

// HKDF-Expand-Label without a context (RFC 8446 section 7.1), for as much as one block gives.
void expand_label(const EVP_MD* hash, ByteSpan secret, std::string_view label,
                  MutableByteSpan out) {
  constexpr std::string_view kPrefix = "tls13 ";
  std::array<uint8_t, 32> info;
  size_t count = 0;
  info[count++] = static_cast<uint8_t>(out.size() >> 8);
  info[count++] = static_cast<uint8_t>(out.size());
  info[count++] = static_cast<uint8_t>(kPrefix.size() + label.size());
  for (std::string_view part : {kPrefix, label})
    for (char c : part) info[count++] = static_cast<uint8_t>(c);
  info[count++] = 0;  // the context's length
  info[count++] = 1;  // the number of the block (RFC 5869 section 2.3)
  std::array<uint8_t, EVP_MAX_MD_SIZE> block;
  unsigned bytes = 0;
  HEADRACE_ASSERT(HMAC(hash, secret.data(), static_cast<uint8_t>(secret.size()), info.data(), count,
                       block.data(), &bytes) &&
                  out.size() <= bytes);
  std::copy_n(block.begin(), out.size(), out.begin());
  OPENSSL_cleanse(block.data(), block.size());
}

}  // namespace

TrafficKey::~TrafficKey() {
  OPENSSL_cleanse(key.data(), key.size());
  OPENSSL_cleanse(iv.data(), iv.size());
}

std::optional<TrafficKey> make_traffic_key(uint16_t suite, ByteSpan secret, uint64_t sequence) {
  if (suite < kAes128Gcm || suite > kChaCha20Poly1305) return std::nullopt;
  const EVP_MD* hash = suite == kAes256Gcm ? EVP_sha384() : EVP_sha256();
  std::optional<TrafficKey> made(std::in_place);
  made->suite = suite;
  made->sequence = sequence;
  const size_t key_bytes = suite == kAes128Gcm ? 16 : 32;
  expand_label(hash, secret, "key", MutableByteSpan(made->key).first(key_bytes));
  expand_label(hash, secret, "iv", made->iv);
  return made;
}

}  // namespace headrace::tls
