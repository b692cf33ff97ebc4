#include "tls/client_context.h"

#include <algorithm>
#include <ctime>

#include "base/check.h"
#include "tls/certificates.h"
#include "tls/library.h"
#include "tls/offload.h"

namespace headrace::tls {
namespace {

// Where a connection's entry of AllSessions is: its name, and what is kept of sessions.
int destination_index() {
  static const int kIndex = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return kIndex;
}

// In the place of looking at a chain and then not minding what was found.
int take_any(X509_STORE_CTX*, void*) {
  return 1;
}

bool append_digest(std::string& text, X509* certificate) {
  Verdicts::Key digest;
  unsigned length = 0;
  if (X509_digest(certificate, EVP_sha256(), digest.data(), &length) != 1) return false;
  text.append(reinterpret_cast<const char*>(digest.data()), length);
  return true;
}

// What a verdict depends on besides the context. Digests have one length, so nothing of the name
// can pass for a certificate.
std::optional<Verdicts::Key> verdict_key(X509_STORE_CTX* chain, const std::string& name) {
  std::string text;
  if (!append_digest(text, X509_STORE_CTX_get0_cert(chain))) return std::nullopt;
  const STACK_OF(X509)* others = X509_STORE_CTX_get0_untrusted(chain);
  const auto count = others ? static_cast<size_t>(sk_X509_num(others)) : 0;
  for (size_t i = 0; i < count; ++i)
    if (!append_digest(text, sk_X509_value(others, static_cast<int>(i)))) return std::nullopt;
  text += std::to_string(count) + ' ' + name;
  Verdicts::Key key;
  unsigned length = 0;
  if (EVP_Digest(text.data(), text.size(), key.data(), &length, EVP_sha256(), nullptr) != 1)
    return std::nullopt;
  return key;
}

// When the first certificate of a chain that was found good ends.
std::optional<Verdicts::Time> end_of(X509_STORE_CTX* chain, Verdicts::Time now) {
  constexpr Verdicts::Time kDay = 24 * 60 * 60;
  const STACK_OF(X509)* certificates = X509_STORE_CTX_get0_chain(chain);
  if (!certificates) return std::nullopt;
  std::optional<Verdicts::Time> end;
  for (size_t i = 0; i < static_cast<size_t>(sk_X509_num(certificates)); ++i) {
    const ASN1_TIME* last = X509_get0_notAfter(sk_X509_value(certificates, static_cast<int>(i)));
    int days = 0;
    int seconds = 0;
    if (ASN1_TIME_diff(&days, &seconds, nullptr, last) != 1) return std::nullopt;
    const Verdicts::Time its_end = now + days * kDay + seconds;
    end = std::min(end.value_or(its_end), its_end);
  }
  return end;
}

}  // namespace

void ClientContext::Free::operator()(ssl_ctx_st* context) const {
  SSL_CTX_free(context);
}

void ClientContext::Free::operator()(ssl_session_st* session) const {
  SSL_SESSION_free(session);
}

ClientContext::~ClientContext() = default;

int ClientContext::kept_index() {
  static const int kIndex = SSL_CTX_get_ex_new_index(
      0, nullptr, nullptr, nullptr, [](void*, void* kept, CRYPTO_EX_DATA*, int, long, void*) {
        delete static_cast<Kept*>(kept);
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
  self->kept_ = new Kept();
  SSL_CTX_set_ex_data(context, kept_index(), self->kept_);
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
  SSL_CTX_set_cert_verify_callback(context_.get(), verify, kept_);
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
  AllSessions& all = kept_->sessions;
  auto found = all.find(key);
  if (found == all.end() && all.size() < kDestinationsMax)
    found = all.emplace(std::move(key), Sessions()).first;
  if (found != all.end()) {
    SSL_set_ex_data(connection, destination_index(), &*found);
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
  void* destination = SSL_get_ex_data(connection, destination_index());
  if (!destination) return 0;
  Sessions& sessions = static_cast<AllSessions::value_type*>(destination)->second;
  if (!is_for_single_use(session)) sessions.clear();
  sessions.emplace_back(session);  // the reference is ours now
  if (sessions.size() > kSessionsMax) sessions.pop_front();
  return 1;
}

// In the library's place, which would look at the same chain for every connection.
int ClientContext::verify(x509_store_ctx_st* chain, void* kept) {
  auto* connection =
      static_cast<SSL*>(X509_STORE_CTX_get_ex_data(chain, SSL_get_ex_data_X509_STORE_CTX_idx()));
  const void* destination = SSL_get_ex_data(connection, destination_index());
  if (!destination) return X509_verify_cert(chain) == 1;
  const std::string& name = static_cast<const AllSessions::value_type*>(destination)->first;
  Verdicts& verdicts = static_cast<Kept*>(kept)->verdicts;
  const Verdicts::Time now = std::time(nullptr);
  const std::optional<Verdicts::Key> key = verdict_key(chain, name);
  if (key && verdicts.has(*key, now)) {
    X509_STORE_CTX_set_error(chain, X509_V_OK);
    return 1;
  }
  if (X509_verify_cert(chain) != 1) return 0;
  const std::optional<Verdicts::Time> end = end_of(chain, now);
  if (key && end) verdicts.keep(*key, now, *end);
  return 1;
}

}  // namespace headrace::tls
