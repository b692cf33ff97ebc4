#include "tls/client_context.h"

#include "base/check.h"
#include "tls/certificates.h"
#include "tls/library.h"
#include "tls/offload.h"

namespace headrace::tls {
namespace {

// Where a connection's sessions are kept.
int sessions_index() {
  static const int kIndex = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return kIndex;
}

// In the place of looking at a chain and then not minding what was found.
int take_any(X509_STORE_CTX*, void*) {
  return 1;
}

}  // namespace

void ClientContext::Free::operator()(ssl_ctx_st* context) const {
  SSL_CTX_free(context);
}

void ClientContext::Free::operator()(ssl_session_st* session) const {
  SSL_SESSION_free(session);
}

ClientContext::~ClientContext() = default;

int ClientContext::all_sessions_index() {
  static const int kIndex = SSL_CTX_get_ex_new_index(
      0, nullptr, nullptr, nullptr, [](void*, void* kept, CRYPTO_EX_DATA*, int, long, void*) {
        delete static_cast<AllSessions*>(kept);
      });
  return kIndex;
}

std::unique_ptr<ClientContext> ClientContext::create(const ClientOptions& options,
                                                     const std::string& ca,
                                                     const std::optional<Identity>& identity,
                                                     std::string& fault) {
  std::unique_ptr<ClientContext> self(new ClientContext());
  self->context_.reset(SSL_CTX_new(TLS_client_method()));
  SSL_CTX* context = self->context_.get();
  HEADRACE_ASSERT(context);
  self->sessions_ = new AllSessions();
  SSL_CTX_set_ex_data(context, all_sessions_index(), self->sessions_);
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_NO_AUTO_CHAIN);
  set_preferences(context);
  Offload::prepare(context, options.ktls);
  self->ktls_ = options.ktls;
  (void)set_default_groups(context);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL_STORE);
  SSL_CTX_sess_set_new_cb(context, keep_session);
  const std::string protocols = alpn_list(options.alpn);
  if (protocols.empty() != options.alpn.empty()) {
    fault = "to_tls.alpn has a name that is empty or longer than 255 bytes";
    return nullptr;
  }
  if (!protocols.empty())
    SSL_CTX_set_alpn_protos(context, reinterpret_cast<const uint8_t*>(protocols.data()),
                            static_cast<unsigned>(protocols.size()));
  if (options.insecure)
    SSL_CTX_set_cert_verify_callback(context, take_any, nullptr);
  else if (!self->set_trust(options, ca, fault))
    return nullptr;
  if (identity && !self->show(*identity, fault)) return nullptr;
  return self;
}

bool ClientContext::set_trust(const ClientOptions& options, const std::string& ca,
                              std::string& fault) {
  SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
  if (options.ca.empty()) {
    if (trust_system(context_.get())) return true;
    fault = "cannot read the certificates that the system trusts; name some with --to-ca";
    return false;
  }
  const std::vector<OwnedCertificate> authorities = parse_chain(ca);
  for (const OwnedCertificate& authority : authorities)
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context_.get()), authority.get());
  ERR_clear_error();  // one that is there twice
  if (authorities.empty()) fault = options.ca + " holds no certificate in PEM";
  return !authorities.empty();
}

bool ClientContext::show(const Identity& identity, std::string& fault) {
  const std::vector<OwnedCertificate> chain = parse_chain(identity.certificate);
  const OwnedKey key = parse_key(identity.key);
  HEADRACE_ASSERT(!chain.empty() && key);  // load_identity has looked
  if (use_identity(context_.get(), chain, key.get())) return true;
  fault = "the library refuses " + identity.file + ": " + take_error_text();
  return false;
}

ssl_st* ClientContext::open_connection(const std::string& name, bool is_address,
                                       std::string_view destination) {
  SSL* connection = SSL_new(context_.get());
  HEADRACE_ASSERT(connection);
  const bool named = expect_name(connection, name, is_address) &&
                     (is_address || SSL_set_tlsext_host_name(connection, name.c_str()) == 1);
  // A name that nothing can be verified by fails: an unverified connection would be worse.
  if (!named) {
    ERR_clear_error();
    SSL_free(connection);
    return nullptr;
  }
  std::string key = name + ' ' + std::string(destination);
  auto found = sessions_->find(key);
  if (found == sessions_->end() && sessions_->size() < kDestinationsMax)
    found = sessions_->emplace(std::move(key), Sessions()).first;
  if (found != sessions_->end()) {
    SSL_set_ex_data(connection, sessions_index(), &found->second);
    go_on_with_a_session(connection, found->second);
  }
  return connection;
}

// The newest. One of TLS 1.3 is used once, so that nobody can tell by it that two connections are
// ours (RFC 8446 appendix C.4).
void ClientContext::go_on_with_a_session(ssl_st* connection, Sessions& sessions) {
  if (sessions.empty()) return;
  SSL_set_session(connection, sessions.back().get());
  if (is_for_single_use(sessions.back().get())) sessions.pop_back();
}

int ClientContext::keep_session(ssl_st* connection, ssl_session_st* session) {
  auto* sessions = static_cast<Sessions*>(SSL_get_ex_data(connection, sessions_index()));
  if (!sessions) return 0;
  if (!is_for_single_use(session)) sessions->clear();
  sessions->emplace_back(session);  // the reference is ours now
  if (sessions->size() > kSessionsMax) sessions->pop_front();
  return 1;
}

}  // namespace headrace::tls
