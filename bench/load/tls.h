// TLS contexts of the client and of the origin.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <vector>

namespace headrace::load {

struct SslFree {
  void operator()(SSL* ssl) const { ::SSL_free(ssl); }
};
using UniqueSsl = std::unique_ptr<SSL, SslFree>;

struct TlsClientOptions {
  std::string ca_file;  // empty: nothing is verified
  std::string name;     // SNI, and the name to verify; empty: none is sent
  bool resume = false;  // else each handshake is a full one, so that runs compare
};

class TlsContext {
 public:
  // Null and a reason on standard error where a file cannot be used.
  static std::unique_ptr<TlsContext> for_client(const TlsClientOptions& options);
  static std::unique_ptr<TlsContext> for_server(const std::string& cert_file,
                                                const std::string& key_file);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  // A session over the socket, which the caller keeps open as long; null when out of memory.
  UniqueSsl start(int fd);

 private:
  explicit TlsContext(SSL_CTX* context) : context_(context) {}
  static int keep_session(SSL* ssl, SSL_SESSION* session);

  SSL_CTX* context_;
  bool is_client_ = false;
  std::string name_;
  bool verify_ = false;
  // Tickets of ended handshakes. TLS 1.3 tickets are used once, as browsers do.
  std::vector<SSL_SESSION*> sessions_;
};

}  // namespace headrace::load
