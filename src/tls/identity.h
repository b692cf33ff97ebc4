// Who a side of TLS is: a certificate chain and its key, read from files and found to belong
// together. Texts, so that each worker can make a context of its own of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tls/options.h"

namespace headrace::tls {

struct Identity {
  std::string certificate;  // PEM, the leaf first
  std::string key;          // PEM
  std::string staple;       // an OCSP response in DER; empty: none
  std::string file;         // of the certificate, for messages
};

// nullopt with `fault` filled, which names the file.
std::optional<std::string> read_file(const std::string& path, std::string& fault);
// The text of a file of certificates; there has to be one.
std::optional<std::string> read_authorities(const std::string& path, std::string& fault);
// `staple_file` may be empty.
std::optional<Identity> load_identity(const std::string& certificate_file,
                                      const std::string& key_file, const std::string& staple_file,
                                      std::string& fault);
// Whether a file that should be secret is not.
bool everyone_can_read(const std::string& path);
// What an operator should know though it keeps nobody from starting: a key that others can read, a
// certificate that is over or not yet valid. One line each.
std::vector<std::string> warnings_about(const Identity& identity, const std::string& key_file);

}  // namespace headrace::tls
