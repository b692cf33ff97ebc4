#include "tls/engine.h"

#include <algorithm>
#include <climits>

#include "base/check.h"
#include "tls/client_context.h"
#include "tls/library.h"
#include "tls/offload.h"
#include "tls/server_context.h"

namespace headrace::tls {

const char* take_error_text() {
  const char* reason = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  return reason ? reason : "no reason given";
}

Engine::Engine(Workspace& workspace, ServerContext& context, Offload* offload)
    : workspace_(workspace), connection_(context.open_connection()) {
  prepare(offload);
  SSL_set_accept_state(connection_);
}

Engine::Engine(Workspace& workspace, ClientContext& context, const std::string& name,
               bool is_address, std::string_view destination, Offload* offload)
    : workspace_(workspace), connection_(context.open_connection(name, is_address, destination)) {
  if (!connection_) {
    failure_text_ = "the name is none that a certificate could be for";
    return;
  }
  prepare(offload);
  SSL_set_connect_state(connection_);
}

void Engine::prepare(Offload* offload) {
  BIO* bio = workspace_.share_bio();
  SSL_set_bio(connection_, bio, bio);
  judges_ = (SSL_get_verify_mode(connection_) & SSL_VERIFY_PEER) != 0;
  set_preferences(connection_);
  if (offload) offload->bind(connection_);
}

// The library would take a connection that ends without both close_notifies as a reason to spoil
// its session, which may be used again.
Engine::~Engine() {
  if (!connection_) return;
  SSL_set_shutdown(connection_, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
  SSL_free(connection_);
}

Step Engine::step_of(int result) {
  switch (SSL_get_error(connection_, result)) {
    case SSL_ERROR_WANT_READ:
      return Step::needs_input;
    case SSL_ERROR_ZERO_RETURN:
      return Step::closed;
    default:
      break;
  }
  const int reason = ERR_GET_REASON(ERR_peek_last_error());
  certificate_refused_ = reason == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE;
  failure_text_ = take_error_text();
  const long verdict = SSL_get_verify_result(connection_);
  if (judges_ && verdict != X509_V_OK) {
    certificate_refused_ = true;
    failure_text_ = X509_verify_cert_error_string(verdict);
  }
  return Step::failed;
}

Step Engine::shake_hands(ByteSpan& input) {
  if (!connection_) return Step::failed;
  workspace_.set_input(input);
  const int result = SSL_do_handshake(connection_);
  input = workspace_.input();
  return result == 1 ? Step::done : step_of(result);
}

bool Engine::output_may_wait() const {
  return SSL_is_server(connection_) && SSL_version(connection_) == TLS1_3_VERSION;
}

uint16_t Engine::suite() const {
  if (SSL_version(connection_) != TLS1_3_VERSION) return 0;
  return static_cast<uint16_t>(SSL_CIPHER_get_id(SSL_get_current_cipher(connection_)));
}

Step Engine::read(ByteSpan& input, MutableByteSpan plain, size_t& bytes_read) {
  workspace_.set_input(input);
  bytes_read = 0;
  Step step = Step::done;
  while (bytes_read < plain.size()) {
    const size_t room = std::min<size_t>(plain.size() - bytes_read, INT_MAX);
    const int got = SSL_read(connection_, plain.data() + bytes_read, static_cast<int>(room));
    if (got <= 0) {
      step = step_of(got);
      break;
    }
    bytes_read += static_cast<size_t>(got);
    // All has come out: asking the library again would only cost.
    if (workspace_.input().empty() && !pending()) {
      step = Step::needs_input;
      break;
    }
  }
  input = workspace_.input();
  return step;
}

bool Engine::pending() const {
  return SSL_pending(connection_) > 0;
}

bool Engine::write(ByteSpan plain) {
  workspace_.set_input({});
  while (!plain.empty()) {
    const size_t bytes = std::min<size_t>(plain.size(), INT_MAX);
    const int written = SSL_write(connection_, plain.data(), static_cast<int>(bytes));
    if (written <= 0) return step_of(written) == Step::done;
    plain = plain.subspan(static_cast<size_t>(written));
  }
  return true;
}

void Engine::close() {
  if (!connection_) return;
  workspace_.set_input({});
  if (SSL_shutdown(connection_) < 0) ERR_clear_error();
}

std::string Engine::verified_name() const {
  if (!judges_) return {};
  const OwnedCertificate certificate(SSL_get_peer_certificate(connection_));
  if (!certificate || SSL_get_verify_result(connection_) != X509_V_OK) return {};
  const OwnedBio text(BIO_new(BIO_s_mem()));
  X509_NAME_print_ex(text.get(), X509_get_subject_name(certificate.get()), 0, XN_FLAG_RFC2253);
  char* bytes = nullptr;
  const long count = BIO_get_mem_data(text.get(), &bytes);
  return {bytes, static_cast<size_t>(std::max(count, 0L))};
}

}  // namespace headrace::tls
