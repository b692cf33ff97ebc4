#include "tls/offload.h"

#include <algorithm>
#include <string_view>

#include "tls/library.h"
#include "tls/records.h"

namespace headrace::tls {
namespace {

int offload_index() {
  static const int kIndex = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return kIndex;
}

Offload* offload_of(const SSL* connection) {
  return static_cast<Offload*>(SSL_get_ex_data(connection, offload_index()));
}

bool may_happen(KernelTls mode) {
  return mode != KernelTls::off && kernel::has_tls();
}

uint8_t digit(char c) {
  return static_cast<uint8_t>(c <= '9' ? c - '0' : c - 'a' + 10);
}

// One line of the library's key log: label, client random, secret (draft-ietf-tls-keylogfile).
void take_secret(const SSL* connection, const char* text) {
  Offload* offload = offload_of(connection);
  if (!offload) return;
  const std::string_view line(text);
  const bool of_client = line.starts_with("CLIENT_TRAFFIC_SECRET_0 ");
  if (!of_client && !line.starts_with("SERVER_TRAFFIC_SECRET_0 ")) return;
  const std::string_view hex = line.substr(line.rfind(' ') + 1);
  std::array<uint8_t, EVP_MAX_MD_SIZE> secret;
  const size_t bytes = std::min(hex.size() / 2, secret.size());
  for (size_t i = 0; i < bytes; ++i)
    secret[i] = static_cast<uint8_t>(digit(hex[2 * i]) << 4 | digit(hex[2 * i + 1]));
  const bool ours = of_client != (SSL_is_server(connection) == 1);
  offload->note_secret(ours ? Way::sending : Way::receiving, ByteSpan(secret).first(bytes));
  OPENSSL_cleanse(secret.data(), secret.size());
}

void look_for_key_update(int is_ours, int, int content, const void* message, size_t count,
                         SSL* connection, void*) {
  const auto* bytes = static_cast<const uint8_t*>(message);
  if (content != SSL3_RT_HANDSHAKE || count < kKeyUpdateBytes || bytes[0] != kKeyUpdate) return;
  const bool asks = !is_ours && bytes[kKeyUpdateBytes - 1] == kUpdateRequested;
  if (Offload* offload = offload_of(connection)) offload->note_key_update(asks);
}

}  // namespace

std::unique_ptr<Offload> Offload::create(KernelTls mode, bool is_client) {
  if (!may_happen(mode)) return nullptr;
  return std::unique_ptr<Offload>(new Offload(mode, is_client));
}

Offload::Offload(KernelTls mode, bool is_client) : at_once_(mode == KernelTls::on) {
  ways_[index(Way::sending)].wanted = at_once_ && is_client;
  ways_[index(Way::receiving)].wanted = at_once_ && !is_client;
}

Offload::~Offload() {
  for (State& way : ways_) OPENSSL_cleanse(way.secret.data(), way.secret.size());
}

void Offload::prepare(ssl_ctx_st* context, KernelTls mode) {
  if (!may_happen(mode)) return;
  SSL_CTX_set_keylog_callback(context, take_secret);
  SSL_CTX_set_msg_callback(context, look_for_key_update);
}

void Offload::bind(ssl_st* connection) {
  SSL_set_ex_data(connection, offload_index(), this);
}

void Offload::note_secret(Way way, ByteSpan secret) {
  State& state = ways_[index(way)];
  if (secret.size() > state.secret.size()) return;
  std::copy(secret.begin(), secret.end(), state.secret.begin());
  state.secret_bytes = static_cast<uint8_t>(secret.size());
}

void Offload::note_moved(Way way, size_t bytes) {
  State& state = ways_[index(way)];
  if (state.wanted || state.tried || bytes == 0) return;
  if (at_once_) {
    state.wanted = true;
    return;
  }
  if (state.moved_bytes == 0) state.began = std::chrono::steady_clock::now();
  state.moved_bytes += static_cast<uint32_t>(std::min<size_t>(bytes, kMuchBytes));
  if (state.moved_bytes < kMuchBytes) return;
  state.wanted = std::chrono::steady_clock::now() - state.began <= kShortTime;
  state.moved_bytes = 0;
}

bool Offload::hand_over(Way way, int fd) {
  State& state = ways_[index(way)];
  state.wanted = false;
  state.tried = true;
  if (state.secret_bytes == 0) return false;
  const std::optional<TrafficKey> key = make_traffic_key(
      suite_, ByteSpan(state.secret).first(state.secret_bytes), state.records.records());
  return key && kernel::install(fd, way, *key);
}

}  // namespace headrace::tls
