#include "tls/server_context.h"

#include <algorithm>

#include "base/check.h"
#include "tls/certificates.h"
#include "tls/library.h"
#include "tls/offload.h"

namespace headrace::tls {
namespace {

// A ticket is good only where the same client certificates are asked for, as much.
bool set_session_context(SSL_CTX* context, const std::string& client_ca, ClientCertificate mode) {
  const std::string asked =
      (mode == ClientCertificate::required ? "required " : "optional ") + client_ca;
  uint8_t digest[EVP_MAX_MD_SIZE];
  unsigned bytes = 0;
  return EVP_Digest(asked.data(), asked.size(), digest, &bytes, EVP_sha256(), nullptr) &&
         SSL_CTX_set_session_id_context(context, digest, bytes);
}

bool ask_for_certificates(SSL_CTX* context, const std::string& pem, ClientCertificate mode) {
  const std::vector<OwnedCertificate> authorities = parse_chain(pem);
  if (authorities.empty()) return false;
  X509_STORE* store = SSL_CTX_get_cert_store(context);
  for (const OwnedCertificate& authority : authorities) {
    if (X509_STORE_add_cert(store, authority.get()) != 1) return false;
    if (SSL_CTX_add_client_CA(context, authority.get()) != 1) return false;
  }
  int flags = SSL_VERIFY_PEER;
  if (mode == ClientCertificate::required) flags |= SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
  SSL_CTX_set_verify(context, flags, nullptr);
  return true;
}

int choose_alpn(SSL*, const uint8_t** chosen, uint8_t* chosen_bytes, const uint8_t* offered,
                unsigned offered_bytes, void* list) {
  const std::string& ours = *static_cast<const std::string*>(list);
  uint8_t* found = nullptr;
  const int outcome =
      SSL_select_next_proto(&found, chosen_bytes, reinterpret_cast<const uint8_t*>(ours.data()),
                            static_cast<unsigned>(ours.size()), offered, offered_bytes);
  *chosen = found;
  // RFC 7301 section 3.2: no_application_protocol.
  return outcome == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

bool is_rsa(const EVP_PKEY* key) {
  return EVP_PKEY_id(key) == EVP_PKEY_RSA;
}

}  // namespace

void ServerContext::Free::operator()(ssl_ctx_st* context) const {
  SSL_CTX_free(context);
}

ServerContext::~ServerContext() = default;

std::unique_ptr<ServerContext> ServerContext::create(const ServerOptions& options,
                                                     const std::vector<Identity>& identities,
                                                     const std::string& client_ca,
                                                     std::string_view alpn,
                                                     std::shared_ptr<TicketKeys> ticket_keys,
                                                     std::string& fault) {
  std::unique_ptr<ServerContext> self(new ServerContext());
  self->ticket_keys_ = std::move(ticket_keys);
  self->ktls_ = options.ktls;
  self->refuses_unknown_names_ = options.unknown_name == UnknownName::refused;
  const std::string_view protocols = options.alpn == "auto" ? alpn : options.alpn;
  self->alpn_ = alpn_list(protocols);
  if (self->alpn_.empty() != protocols.empty()) {
    fault = "tls.alpn has a name that is empty or longer than 255 bytes";
    return nullptr;
  }
  for (const Identity& identity : identities)
    if (!self->add(identity, options, client_ca, fault)) return nullptr;
  HEADRACE_ASSERT(!self->entries_.empty());
  for (const std::unique_ptr<Entry>& entry : self->entries_)
    for (const std::string& name : entry->names) {
      auto& names = name.starts_with("*.") ? self->wildcard_ : self->exact_;
      names.emplace(name.starts_with("*.") ? name.substr(2) : name, entry.get());
    }
  return self;
}

ServerContext::Context ServerContext::make_context(const ServerOptions& options,
                                                   const std::string& client_ca,
                                                   std::string& fault) {
  Context context(SSL_CTX_new(TLS_server_method()));
  HEADRACE_ASSERT(context);
  const uint16_t min = options.min_version == Version::tls13 ? TLS1_3_VERSION : TLS1_2_VERSION;
  SSL_CTX_set_min_proto_version(context.get(), min);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context.get(), 1);
  SSL_CTX_set_timeout(
      context.get(),
      static_cast<uint32_t>(std::chrono::seconds(TicketKeys::kTicketLifetime).count()));
  SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS | SSL_MODE_NO_AUTO_CHAIN);
  set_preferences(context.get());
  Offload::prepare(context.get(), options.ktls);
  set_ticket_keys(context.get(), *ticket_keys_);
  const bool groups = options.groups == "auto" ? set_default_groups(context.get())
                                               : set_groups(context.get(), options.groups);
  if (!groups) {
    fault = "tls.groups: the library has none of \"" + options.groups + "\"";
    return nullptr;
  }
  if (options.ciphers != "auto" &&
      SSL_CTX_set_cipher_list(context.get(), options.ciphers.c_str()) != 1) {
    fault = "tls.ciphers: the library has none of \"" + options.ciphers + "\"";
    return nullptr;
  }
  if (!options.client_ca.empty() &&
      !ask_for_certificates(context.get(), client_ca, options.client_certificate)) {
    fault = options.client_ca + " holds no certificate in PEM";
    return nullptr;
  }
  if (!set_session_context(context.get(), client_ca, options.client_certificate)) {
    fault = "the library cannot make a digest of tls.client_ca";
    return nullptr;
  }
  if (!alpn_.empty()) SSL_CTX_set_alpn_select_cb(context.get(), choose_alpn, &alpn_);
  if (refuses_unknown_names_) check_hello_name(context.get(), knows_name, this);
  SSL_CTX_set_tlsext_servername_callback(context.get(), choose);
  SSL_CTX_set_tlsext_servername_arg(context.get(), this);
  return context;
}

bool ServerContext::add(const Identity& identity, const ServerOptions& options,
                        const std::string& client_ca, std::string& fault) {
  const std::vector<OwnedCertificate> chain = parse_chain(identity.certificate);
  const OwnedKey key = parse_key(identity.key);
  HEADRACE_ASSERT(!chain.empty() && key);  // load_identity has looked
  std::vector<std::string> names = names_of(chain.front().get());
  std::sort(names.begin(), names.end());
  // The other kind of certificate for the same names?
  const auto same = std::find_if(entries_.begin(), entries_.end(), [&](const auto& entry) {
    if (entry->names != names || entry->rsa) return false;
    EVP_PKEY* other = SSL_CTX_get0_privatekey(entry->context.get());
    return is_rsa(other) != is_rsa(key.get());
  });
  const bool joins = same != entries_.end() && kContextHoldsBothKinds;
  Context made = joins ? nullptr : make_context(options, client_ca, fault);
  SSL_CTX* context = joins ? (*same)->context.get() : made.get();
  if (!context) return false;
  if (!use_identity(context, chain, key.get())) {
    fault = "the library refuses " + identity.file + ": " + take_error_text();
    return false;
  }
  if (!identity.staple.empty()) set_staple(context, identity.staple);
  if (joins) return true;
  if (same == entries_.end()) {
    entries_.push_back(std::make_unique<Entry>());
    entries_.back()->names = std::move(names);
    entries_.back()->context = std::move(made);
    return true;
  }
  Entry& entry = **same;
  entry.rsa = std::move(made);
  if (!is_rsa(key.get())) std::swap(entry.context, entry.rsa);
  return true;
}

// Exactly, or by a wildcard, which covers one label (RFC 9525 section 6.3).
const ServerContext::Entry* ServerContext::find(std::string_view asked) const {
  const std::string name = normal_name(asked);
  const auto exact = exact_.find(name);
  if (exact != exact_.end()) return exact->second;
  const size_t dot = name.find('.');
  if (dot == 0 || dot == name.npos) return nullptr;
  const auto wildcard = wildcard_.find(name.substr(dot + 1));
  return wildcard == wildcard_.end() ? nullptr : wildcard->second;
}

bool ServerContext::knows_name(const void* self, std::string_view name) {
  return static_cast<const ServerContext*>(self)->find(name) != nullptr;
}

int ServerContext::choose(ssl_st* connection, int* alert, void* self) {
  const ServerContext& context = *static_cast<ServerContext*>(self);
  const char* name = SSL_get_servername(connection, TLSEXT_NAMETYPE_host_name);
  const Entry* entry = name ? context.find(name) : nullptr;
  if (!entry && name && context.refuses_unknown_names_) {
    *alert = SSL_AD_UNRECOGNIZED_NAME;
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }
  if (!entry) entry = context.entries_.front().get();
  SSL_CTX* chosen = entry->context.get();
  if (entry->rsa && !offers_ecdsa(connection)) chosen = entry->rsa.get();
  if (SSL_get_SSL_CTX(connection) != chosen) SSL_set_SSL_CTX(connection, chosen);
  return SSL_TLSEXT_ERR_OK;
}

ssl_st* ServerContext::open_connection() {
  SSL* connection = SSL_new(entries_.front()->context.get());
  HEADRACE_ASSERT(connection);
  return connection;
}

}  // namespace headrace::tls
