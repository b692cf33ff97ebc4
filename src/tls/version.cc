#include "tls/version.h"

#include <openssl/crypto.h>

namespace headrace::tls {

std::string library_version() {
  return OpenSSL_version(OPENSSL_VERSION);
}

}  // namespace headrace::tls
