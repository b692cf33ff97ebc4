// Certificates, keys and names as the library has them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tls/library.h"

namespace headrace::tls {

// All certificates of a PEM text, in its order; empty where it holds none, or a broken one.
std::vector<OwnedCertificate> parse_chain(const std::string& pem);
OwnedKey parse_key(const std::string& pem);
// Gives the context a chain and its key, beside what it holds of another kind of key.
bool use_identity(SSL_CTX* context, const std::vector<OwnedCertificate>& chain, EVP_PKEY* key);
// The DNS names that a certificate is for, as normal_name() gives them. Of the subject only where
// there are no others, for those who still make such certificates.
std::vector<std::string> names_of(X509* certificate);
// In small letters, without the dot at the end.
std::string normal_name(std::string_view name);
// "http/1.1,h2" as ALPN writes it (RFC 7301 section 3.1); empty where a name is too long or empty.
std::string alpn_list(std::string_view names);

}  // namespace headrace::tls
