// Where OpenSSL 3 differs from BoringSSL.
#include <openssl/core_names.h>

#include <algorithm>
#include <cstring>

#include "tls/library.h"
#include "tls/ticket_keys.h"

namespace headrace::tls {
namespace {

int keys_index() {
  static const int kIndex = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return kIndex;
}

bool seal_with(const TicketKeys::Key& key, EVP_MAC_CTX* mac) {
  char digest[] = "SHA256";
  OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, const_cast<uint8_t*>(key.hmac.data()),
                                        key.hmac.size()),
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
      OSSL_PARAM_construct_end(),
  };
  return EVP_MAC_CTX_set_params(mac, parameters) == 1;
}

int ticket_key(SSL* connection, uint8_t* name, uint8_t* iv, EVP_CIPHER_CTX* cipher,
               EVP_MAC_CTX* mac, int encrypt) {
  auto& keys =
      *static_cast<TicketKeys*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(connection), keys_index()));
  if (encrypt) {
    const TicketKeys::Key key = keys.current();
    std::copy(key.name.begin(), key.name.end(), name);
    const bool ready =
        RAND_bytes(iv, EVP_CIPHER_get_iv_length(EVP_aes_256_cbc())) == 1 &&
        EVP_EncryptInit_ex(cipher, EVP_aes_256_cbc(), nullptr, key.aes.data(), iv) == 1 &&
        seal_with(key, mac);
    return ready ? 1 : -1;
  }
  const std::optional<TicketKeys::Key> key =
      keys.find(std::span<const uint8_t, TicketKeys::kNameBytes>(name, TicketKeys::kNameBytes));
  if (!key) return 0;
  const bool ready = seal_with(*key, mac) && EVP_DecryptInit_ex(cipher, EVP_aes_256_cbc(), nullptr,
                                                                key->aes.data(), iv) == 1;
  if (!ready) return -1;
  return wants_another_ticket(connection, *key, keys) ? 2 : 1;
}

int give_staple(SSL* connection, void* staple) {
  const std::string& response = *static_cast<const std::string*>(staple);
  void* copy = OPENSSL_memdup(response.data(), response.size());
  SSL_set_tlsext_status_ocsp_resp(connection, copy, static_cast<long>(response.size()));
  return SSL_TLSEXT_ERR_OK;
}

// What a context owns beside its own.
template <class T>
void free_kept(void*, void* kept, CRYPTO_EX_DATA*, int, long, void*) {
  delete static_cast<T*>(kept);
}

struct CheckOfNames {
  NameCheck check;
  const void* self;
};

// The first host name of the extension (RFC 6066 section 3); empty where there is none.
std::string_view name_of_hello(SSL* connection) {
  constexpr size_t kHeadBytes = 5;  // of the list and of its first entry
  const uint8_t* bytes = nullptr;
  size_t count = 0;
  if (!SSL_client_hello_get0_ext(connection, TLSEXT_TYPE_server_name, &bytes, &count)) return {};
  if (count < kHeadBytes || bytes[2] != TLSEXT_NAMETYPE_host_name) return {};
  const size_t length = static_cast<size_t>(bytes[3]) << 8 | bytes[4];
  if (length > count - kHeadBytes) return {};
  return {reinterpret_cast<const char*>(bytes) + kHeadBytes, length};
}

int check_name(SSL* connection, int* alert, void* kept) {
  const auto& check = *static_cast<const CheckOfNames*>(kept);
  const std::string_view name = name_of_hello(connection);
  if (name.empty() || check.check(check.self, name)) return SSL_CLIENT_HELLO_SUCCESS;
  *alert = SSL_AD_UNRECOGNIZED_NAME;
  return SSL_CLIENT_HELLO_ERROR;
}

}  // namespace

const bool kContextHoldsBothKinds = true;

bool offers_ecdsa(const SSL*) {
  return true;
}

void set_preferences(SSL_CTX* context) {
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE |
                                   SSL_OP_PRIORITIZE_CHACHA | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_ciphersuites(
      context, "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_256_GCM_SHA384");
  SSL_CTX_set_cipher_list(context,
                          "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:"
                          "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:"
                          "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384");
}

void set_preferences(SSL*) {}

bool set_groups(SSL_CTX* context, const std::string& groups) {
  const bool taken = SSL_CTX_set1_groups_list(context, groups.c_str()) == 1;
  ERR_clear_error();
  return taken;
}

bool set_default_groups(SSL_CTX* context) {
  return set_groups(context, "X25519MLKEM768:X25519:P-256:P-384") ||
         set_groups(context, "X25519:P-256:P-384");
}

// A resumed session of TLS 1.2 would tell the ServerName callback the name that it was made for.
void check_hello_name(SSL_CTX* context, NameCheck check, const void* self) {
  static const int kIndex =
      SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, free_kept<CheckOfNames>);
  auto* kept = new CheckOfNames{check, self};
  SSL_CTX_set_ex_data(context, kIndex, kept);
  SSL_CTX_set_client_hello_cb(context, check_name, kept);
}

void set_staple(SSL_CTX* context, std::string response) {
  static const int kIndex =
      SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, free_kept<std::string>);
  auto* kept = new std::string(std::move(response));
  SSL_CTX_set_ex_data(context, kIndex, kept);
  SSL_CTX_set_tlsext_status_cb(context, give_staple);
  SSL_CTX_set_tlsext_status_arg(context, kept);
}

void set_ticket_keys(SSL_CTX* context, TicketKeys& keys) {
  SSL_CTX_set_ex_data(context, keys_index(), &keys);
  SSL_CTX_set_tlsext_ticket_key_evp_cb(context, ticket_key);
}

bool is_for_single_use(const SSL_SESSION* session) {
  return SSL_SESSION_get_protocol_version(session) >= TLS1_3_VERSION;
}

// Where the library was told to look when it was built, or by SSL_CERT_FILE.
bool trust_system(SSL_CTX* context) {
  return SSL_CTX_set_default_verify_paths(context) == 1;
}

bool expect_name(SSL* connection, const std::string& name, bool is_address) {
  if (is_address)
    return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(connection), name.c_str()) == 1;
  SSL_set_hostflags(connection,
                    X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  return SSL_set1_host(connection, name.c_str()) == 1;
}

}  // namespace headrace::tls
