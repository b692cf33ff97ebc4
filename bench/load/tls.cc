#include "tls.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <cstdio>

namespace headrace::load {
namespace {

constexpr size_t kSessionsMax = 4096;

SSL_CTX* make_context(const SSL_METHOD* method) {
  SSL_CTX* context = ::SSL_CTX_new(method);
  if (context == nullptr) return nullptr;
  // Whoever leaves without close_notify ends the stream; lengths are checked above TLS.
  ::SSL_CTX_set_options(context, SSL_OP_IGNORE_UNEXPECTED_EOF | SSL_OP_NO_COMPRESSION);
  ::SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                  SSL_MODE_RELEASE_BUFFERS);
  // One receive per record instead of two (head, rest).
  ::SSL_CTX_set_read_ahead(context, 1);
  return context;
}

std::unique_ptr<TlsContext> failed(const char* what, const std::string& file) {
  char reason[256];
  ::ERR_error_string_n(::ERR_get_error(), reason, sizeof(reason));
  std::fprintf(stderr, "headrace-load: %s %s: %s\n", what, file.c_str(), reason);
  return nullptr;
}

bool is_numeric(const std::string& name) {
  unsigned char address[16];
  return ::inet_pton(AF_INET, name.c_str(), address) == 1 ||
         ::inet_pton(AF_INET6, name.c_str(), address) == 1;
}

}  // namespace

int TlsContext::keep_session(SSL* ssl, SSL_SESSION* session) {
  auto* self = static_cast<TlsContext*>(SSL_CTX_get_app_data(::SSL_get_SSL_CTX(ssl)));
  if (self->sessions_.size() == kSessionsMax) return 0;  // 0: OpenSSL keeps its reference
  self->sessions_.push_back(session);
  return 1;
}

std::unique_ptr<TlsContext> TlsContext::for_client(const TlsClientOptions& options) {
  std::unique_ptr<TlsContext> tls(new TlsContext(make_context(::TLS_client_method())));
  if (tls->context_ == nullptr) return failed("cannot use", "TLS");
  tls->is_client_ = true;
  tls->name_ = options.name;
  tls->verify_ = !options.ca_file.empty();
  if (tls->verify_) {
    if (::SSL_CTX_load_verify_file(tls->context_, options.ca_file.c_str()) != 1) {
      return failed("cannot use the certificates of", options.ca_file);
    }
    ::SSL_CTX_set_verify(tls->context_, SSL_VERIFY_PEER, nullptr);
  }
  if (options.resume) {
    SSL_CTX_set_app_data(tls->context_, tls.get());
    ::SSL_CTX_set_session_cache_mode(tls->context_,
                                     SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    ::SSL_CTX_sess_set_new_cb(tls->context_, &TlsContext::keep_session);
  }
  return tls;
}

std::unique_ptr<TlsContext> TlsContext::for_server(const std::string& cert_file,
                                                   const std::string& key_file) {
  std::unique_ptr<TlsContext> tls(new TlsContext(make_context(::TLS_server_method())));
  if (tls->context_ == nullptr) return failed("cannot use", "TLS");
  if (::SSL_CTX_use_certificate_chain_file(tls->context_, cert_file.c_str()) != 1) {
    return failed("cannot use the certificate of", cert_file);
  }
  if (::SSL_CTX_use_PrivateKey_file(tls->context_, key_file.c_str(), SSL_FILETYPE_PEM) != 1) {
    return failed("cannot use the key of", key_file);
  }
  return tls;
}

TlsContext::~TlsContext() {
  for (SSL_SESSION* session : sessions_) ::SSL_SESSION_free(session);
  ::SSL_CTX_free(context_);
}

UniqueSsl TlsContext::start(int fd) {
  UniqueSsl ssl(::SSL_new(context_));
  if (!ssl || ::SSL_set_fd(ssl.get(), fd) != 1) return nullptr;
  if (!is_client_) {
    ::SSL_set_accept_state(ssl.get());
    return ssl;
  }
  ::SSL_set_connect_state(ssl.get());
  if (!name_.empty()) {
    if (!is_numeric(name_)) {
      ::SSL_set_tlsext_host_name(ssl.get(), name_.c_str());
      if (verify_) ::SSL_set1_host(ssl.get(), name_.c_str());
    } else if (verify_) {
      ::X509_VERIFY_PARAM_set1_ip_asc(::SSL_get0_param(ssl.get()), name_.c_str());
    }
  }
  if (!sessions_.empty()) {
    ::SSL_set_session(ssl.get(), sessions_.back());
    ::SSL_SESSION_free(sessions_.back());
    sessions_.pop_back();
  }
  return ssl;
}

}  // namespace headrace::load
