// Where BoringSSL's family differs from OpenSSL 3.
#include <openssl/hmac.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "tls/library.h"
#include "tls/ticket_keys.h"

namespace headrace::tls {
namespace {

int keys_index() {
  static const int kIndex = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return kIndex;
}

int ticket_key(SSL* connection, uint8_t* name, uint8_t* iv, EVP_CIPHER_CTX* cipher, HMAC_CTX* mac,
               int encrypt) {
  auto& keys =
      *static_cast<TicketKeys*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(connection), keys_index()));
  if (encrypt) {
    const TicketKeys::Key key = keys.current();
    std::copy(key.name.begin(), key.name.end(), name);
    const bool ready =
        RAND_bytes(iv, EVP_CIPHER_iv_length(EVP_aes_256_cbc())) == 1 &&
        EVP_EncryptInit_ex(cipher, EVP_aes_256_cbc(), nullptr, key.aes.data(), iv) == 1 &&
        HMAC_Init_ex(mac, key.hmac.data(), key.hmac.size(), EVP_sha256(), nullptr) == 1;
    return ready ? 1 : -1;
  }
  const std::optional<TicketKeys::Key> key =
      keys.find(std::span<const uint8_t, TicketKeys::kNameBytes>(name, TicketKeys::kNameBytes));
  if (!key) return 0;
  const bool ready =
      HMAC_Init_ex(mac, key->hmac.data(), key->hmac.size(), EVP_sha256(), nullptr) == 1 &&
      EVP_DecryptInit_ex(cipher, EVP_aes_256_cbc(), nullptr, key->aes.data(), iv) == 1;
  if (!ready) return -1;
  return wants_another_ticket(connection, *key, keys) ? 2 : 1;
}

// The ServerName callback of the same connection runs right after this, on the same thread.
thread_local bool hello_offers_ecdsa = true;

// Signature algorithms of TLS 1.3 (RFC 8446 section 4.2.3) and of TLS 1.2, where the second byte is
// the kind of key. Without the extension a client takes SHA-1 alone, which nobody has certificates
// for any more; RSA is what such old ones can.
ssl_select_cert_result_t note_algorithms(const SSL_CLIENT_HELLO* hello) {
  constexpr uint16_t kSignatureAlgorithms = 13;
  constexpr uint8_t kEcdsa = 3;
  const uint8_t* bytes = nullptr;
  size_t count = 0;
  hello_offers_ecdsa = false;
  if (!SSL_early_callback_ctx_extension_get(hello, kSignatureAlgorithms, &bytes, &count))
    return ssl_select_cert_success;
  for (size_t i = 2; i + 1 < count; i += 2)
    if (bytes[i + 1] == kEcdsa && bytes[i] >= 4 && bytes[i] <= 6) hello_offers_ecdsa = true;
  return ssl_select_cert_success;
}

}  // namespace

const bool kContextHoldsBothKinds = false;

bool offers_ecdsa(const SSL*) {
  return hello_offers_ecdsa;
}

// TLS 1.3 goes by what the hardware does best, of its own accord. Renegotiation is refused, and
// there is no compression.
void set_preferences(SSL_CTX* context) {
  SSL_CTX_set_options(context, SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_select_certificate_cb(context, note_algorithms);
  SSL_CTX_set_cipher_list(context,
                          "[ECDHE-ECDSA-AES128-GCM-SHA256|ECDHE-ECDSA-CHACHA20-POLY1305]:"
                          "[ECDHE-RSA-AES128-GCM-SHA256|ECDHE-RSA-CHACHA20-POLY1305]:"
                          "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384");
}

// Takes effect when the handshake is done, and has to be said before: 0.6 KB less to keep.
void set_preferences(SSL* connection) {
  SSL_set_shed_handshake_config(connection, 1);
}

bool set_groups(SSL_CTX* context, const std::string& groups) {
  const bool taken = SSL_CTX_set1_curves_list(context, groups.c_str()) == 1;
  ERR_clear_error();
  return taken;
}

bool set_default_groups(SSL_CTX* context) {
  return set_groups(context, "X25519MLKEM768:X25519:P-256:P-384") ||
         set_groups(context, "X25519:P-256:P-384");
}

// Nothing to do: the ServerName callback sees the ClientHello's own name.
void check_hello_name(SSL_CTX*, NameCheck, const void*) {}

void set_staple(SSL_CTX* context, std::string response) {
  SSL_CTX_set_ocsp_response(context, reinterpret_cast<const uint8_t*>(response.data()),
                            response.size());
}

void set_ticket_keys(SSL_CTX* context, TicketKeys& keys) {
  SSL_CTX_set_ex_data(context, keys_index(), &keys);
  SSL_CTX_set_tlsext_ticket_key_cb(context, ticket_key);
}

bool is_for_single_use(const SSL_SESSION* session) {
  return SSL_SESSION_should_be_single_use(session) == 1;
}

// The library's own default is no place of this system.
bool trust_system(SSL_CTX* context) {
  const char* named = std::getenv("SSL_CERT_FILE");
  for (const char* file : {named ? named : "/etc/ssl/certs/ca-certificates.crt",
                           "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"}) {
    if (SSL_CTX_load_verify_locations(context, file, nullptr) == 1) return true;
    ERR_clear_error();
    if (named) break;
  }
  return false;
}

bool expect_name(SSL* connection, const std::string& name, bool is_address) {
  X509_VERIFY_PARAM* parameters = SSL_get0_param(connection);
  if (is_address) return X509_VERIFY_PARAM_set1_ip_asc(parameters, name.c_str()) == 1;
  X509_VERIFY_PARAM_set_hostflags(
      parameters, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  return X509_VERIFY_PARAM_set1_host(parameters, name.c_str(), name.size()) == 1;
}

}  // namespace headrace::tls
