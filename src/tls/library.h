// The TLS library, for the few files of this folder that know it: OpenSSL 3, or one of BoringSSL's
// family. They use what both have; where the two differ, the difference has a function here, and
// each library a file that defines it (openssl.cc, boringssl.cc).
#pragma once

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "tls/ticket_keys.h"

namespace headrace::tls {

template <auto kFree>
struct Freeing {
  template <class T>
  void operator()(T* object) const {
    kFree(object);
  }
};
using OwnedBio = std::unique_ptr<BIO, Freeing<BIO_free_all>>;
using OwnedCertificate = std::unique_ptr<X509, Freeing<X509_free>>;
using OwnedKey = std::unique_ptr<EVP_PKEY, Freeing<EVP_PKEY_free>>;
using OwnedContext = std::unique_ptr<SSL_CTX, Freeing<SSL_CTX_free>>;

// The library's words for its last error, and forgets it. They stay where they are.
const char* take_error_text();

// What differs.
// -------------------------------------------------------------------------------------------------

// Whether one context holds a certificate of each kind of key and chooses by what the client takes.
// Where it does not, a context is made for each and offers_ecdsa() says which one is wanted.
extern const bool kContextHoldsBothKinds;
// Of the client whose ServerName callback is running.
bool offers_ecdsa(const SSL* connection);

// AES-128 first, or ChaCha20 where the client prefers it; no renegotiation.
void set_preferences(SSL_CTX* context);
// What can go after the handshake goes then: from its end on, the connection may not be asked for
// what was set.
void set_preferences(SSL* connection);
// The groups that a proxy should offer today. False where the library takes none of it.
bool set_default_groups(SSL_CTX* context);
bool set_groups(SSL_CTX* context, const std::string& groups);
// Has every name that a ClientHello asks for checked, also where its session says another one, and
// refuses it with unrecognized_name. `self` outlives the context's handshakes.
using NameCheck = bool (*)(const void* self, std::string_view name);
void check_hello_name(SSL_CTX* context, NameCheck check, const void* self);
// The OCSP response for the context's certificate.
void set_staple(SSL_CTX* context, std::string response);
// Whether a client that goes on by a ticket gets another one: for TLS 1.3, as it should use each
// but once (RFC 8446 appendix C.4), and where the key will soon be gone.
bool wants_another_ticket(const SSL* connection, const TicketKeys::Key& key, TicketKeys& keys);
// Tickets are sealed with these, which outlive the context.
void set_ticket_keys(SSL_CTX* context, TicketKeys& keys);
// Whether a session may be used for one connection only (RFC 8446 appendix C.4).
bool is_for_single_use(const SSL_SESSION* session);
// The authorities that this host trusts; false where they cannot be read.
bool trust_system(SSL_CTX* context);
// A host's name or address that the certificate must be for.
bool expect_name(SSL* connection, const std::string& name, bool is_address);

}  // namespace headrace::tls
