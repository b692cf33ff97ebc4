#include "tls/identity.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>

#include "tls/certificates.h"

namespace headrace::tls {

std::optional<std::string> read_file(const std::string& path, std::string& fault) {
  struct Close {
    void operator()(FILE* file) const { std::fclose(file); }
  };
  const std::unique_ptr<FILE, Close> file(std::fopen(path.c_str(), "rbe"));
  std::string text;
  char buffer[4096];
  errno = 0;
  if (file)
    while (const size_t got = std::fread(buffer, 1, sizeof(buffer), file.get()))
      text.append(buffer, got);
  if (!file || std::ferror(file.get())) {
    fault = "cannot read " + path + ": " + strerror(errno);
    return std::nullopt;
  }
  return text;
}

std::optional<std::string> read_authorities(const std::string& path, std::string& fault) {
  std::optional<std::string> text = read_file(path, fault);
  if (!text) return std::nullopt;
  if (!parse_chain(*text).empty()) return text;
  fault = path + " holds no certificate in PEM";
  return std::nullopt;
}

std::optional<Identity> load_identity(const std::string& certificate_file,
                                      const std::string& key_file, const std::string& staple_file,
                                      std::string& fault) {
  Identity identity;
  identity.file = certificate_file;
  std::optional<std::string> certificate = read_file(certificate_file, fault);
  if (!certificate) return std::nullopt;
  std::optional<std::string> key = read_file(key_file, fault);
  if (!key) return std::nullopt;
  identity.certificate = std::move(*certificate);
  identity.key = std::move(*key);

  const std::vector<OwnedCertificate> chain = parse_chain(identity.certificate);
  if (chain.empty()) {
    fault = certificate_file + " holds no certificate in PEM";
    return std::nullopt;
  }
  const OwnedKey parsed = parse_key(identity.key);
  if (!parsed) {
    fault = key_file + " holds no private key in PEM without a password";
    return std::nullopt;
  }
  if (X509_check_private_key(chain.front().get(), parsed.get()) != 1) {
    ERR_clear_error();
    fault =
        "the key of " + key_file + " is not that of the first certificate of " + certificate_file;
    return std::nullopt;
  }
  if (staple_file.empty()) return identity;
  std::optional<std::string> staple = read_file(staple_file, fault);
  if (!staple) return std::nullopt;
  constexpr char kSequence = 0x30;  // what DER of an OCSPResponse begins with (RFC 6960)
  if (staple->empty() || staple->front() != kSequence) {
    fault = staple_file + " holds no OCSP response in DER";
    return std::nullopt;
  }
  identity.staple = std::move(*staple);
  return identity;
}

bool everyone_can_read(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && (status.st_mode & S_IROTH) != 0;
}

std::vector<std::string> warnings_about(const Identity& identity, const std::string& key_file) {
  std::vector<std::string> warnings;
  if (everyone_can_read(key_file))
    warnings.push_back("the private key " + key_file + " can be read by everyone on this host");
  const std::vector<OwnedCertificate> chain = parse_chain(identity.certificate);
  if (chain.empty()) return warnings;
  if (X509_cmp_current_time(X509_get0_notAfter(chain.front().get())) < 0)
    warnings.push_back("the certificate " + identity.file + " has expired");
  if (X509_cmp_current_time(X509_get0_notBefore(chain.front().get())) > 0)
    warnings.push_back("the certificate " + identity.file + " is not valid yet");
  return warnings;
}

}  // namespace headrace::tls
