#include "tls/certificates.h"

#include <algorithm>

namespace headrace::tls {
namespace {

// A key with a password would make the library ask at the terminal.
int no_password(char*, int, int, void*) {
  return -1;
}

OwnedBio reader_of(const std::string& text) {
  return OwnedBio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

std::string text_of(const ASN1_STRING* string) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(string)),
          static_cast<size_t>(ASN1_STRING_length(string))};
}

}  // namespace

std::vector<OwnedCertificate> parse_chain(const std::string& pem) {
  std::vector<OwnedCertificate> chain;
  const OwnedBio reader = reader_of(pem);
  while (X509* certificate = PEM_read_bio_X509(reader.get(), nullptr, no_password, nullptr))
    chain.emplace_back(certificate);
  const bool at_the_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  ERR_clear_error();
  if (!at_the_end) chain.clear();
  return chain;
}

OwnedKey parse_key(const std::string& pem) {
  const OwnedBio reader = reader_of(pem);
  OwnedKey key(PEM_read_bio_PrivateKey(reader.get(), nullptr, no_password, nullptr));
  ERR_clear_error();
  return key;
}

bool use_identity(SSL_CTX* context, const std::vector<OwnedCertificate>& chain, EVP_PKEY* key) {
  if (SSL_CTX_use_certificate(context, chain.front().get()) != 1) return false;
  for (size_t i = 1; i < chain.size(); ++i)
    if (SSL_CTX_add1_chain_cert(context, chain[i].get()) != 1) return false;
  return SSL_CTX_use_PrivateKey(context, key) == 1;
}

std::string normal_name(std::string_view name) {
  if (name.ends_with('.')) name.remove_suffix(1);
  std::string normal(name);
  for (char& letter : normal)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return normal;
}

std::vector<std::string> names_of(X509* certificate) {
  std::vector<std::string> names;
  auto* all = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  for (size_t i = 0; all && i < static_cast<size_t>(sk_GENERAL_NAME_num(all)); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(all, static_cast<int>(i));
    if (name->type == GEN_DNS) names.push_back(normal_name(text_of(name->d.dNSName)));
  }
  GENERAL_NAMES_free(all);
  if (!names.empty()) return names;
  X509_NAME* subject = X509_get_subject_name(certificate);
  const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (at < 0) return names;
  names.push_back(normal_name(text_of(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)))));
  return names;
}

std::string alpn_list(std::string_view names) {
  constexpr size_t kNameBytesMax = 255;
  std::string list;
  while (!names.empty()) {
    const size_t comma = std::min(names.find(','), names.size());
    std::string_view name = names.substr(0, comma);
    names.remove_prefix(std::min(comma + 1, names.size()));
    while (name.starts_with(' ')) name.remove_prefix(1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    if (name.empty() || name.size() > kNameBytesMax) return {};
    list += static_cast<char>(name.size());
    list += name;
  }
  return list;
}

}  // namespace headrace::tls
