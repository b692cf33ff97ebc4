// Which TLS library this is.
#pragma once

#include <string>

namespace headrace::tls {

// "OpenSSL 3.0.17 1 Jul 2025", "BoringSSL".
std::string library_version();

}  // namespace headrace::tls
