// What it takes to hand a TLS 1.3 connection over to the kernel in the middle, one way at a time:
// the secrets, which record is next, and whether it moves so much that the kernel is worth it.
// Only connections that may be handed over have one (tls.ktls, and a kernel that can).
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "tls/kernel.h"
#include "tls/options.h"
#include "tls/record_counter.h"
#include "tls/traffic_key.h"

struct ssl_st;
struct ssl_ctx_st;

namespace headrace::tls {

class Offload {
 public:
  // One way that moves so much in so short a time is handed over (docs/decisions/0012).
  static constexpr uint32_t kMuchBytes = 1024 * 1024;
  static constexpr std::chrono::seconds kShortTime{1};

  // nullptr where the kernel has no TLS, or nobody wants it. Tickets go before a server's first
  // data at the latest: those the library is to make and to take, whatever the mode.
  static std::unique_ptr<Offload> create(KernelTls mode, bool is_client);
  // Connections of the context tell what happens to them to the Offload that they are bound to.
  static void prepare(ssl_ctx_st* context, KernelTls mode);
  void bind(ssl_st* connection);
  ~Offload();
  Offload(const Offload&) = delete;
  Offload& operator=(const Offload&) = delete;

  void note_secret(Way way, ByteSpan secret);
  // Which keys are in use is not known any more. The other side may have asked for one of ours,
  // too, before our next data (RFC 8446 section 4.6.3).
  void note_key_update(bool asked_for_ours) {
    keys_known_ = false;
    owes_key_update_ = owes_key_update_ || asked_for_ours;
  }
  bool owes_key_update() const { return owes_key_update_; }
  // Plain bytes.
  void note_moved(Way way, size_t bytes);

  // The handshake is over: the records that come now are those of the secrets.
  void begin(uint16_t suite) { suite_ = suite; }
  void count(Way way, ByteSpan cipher) {
    if (suite_ != 0) ways_[index(way)].records.count(cipher);
  }
  // Of the record that has begun.
  size_t missing_bytes(Way way) const { return ways_[index(way)].records.missing_bytes(); }

  bool wanted(Way way) const { return keys_known_ && suite_ != 0 && ways_[index(way)].wanted; }
  // The kernel has taken that way over, or will not: either way it is not wanted any more.
  bool hand_over(Way way, int fd);

 private:
  struct State {
    RecordCounter records;
    std::array<uint8_t, 48> secret{};
    uint8_t secret_bytes = 0;
    bool wanted = false;
    bool tried = false;
    uint32_t moved_bytes = 0;  // since `began`
    std::chrono::steady_clock::time_point began;
  };

  Offload(KernelTls mode, bool is_client);
  static size_t index(Way way) { return static_cast<size_t>(way); }

  std::array<State, 2> ways_;
  const bool at_once_;
  uint16_t suite_ = 0;  // 0: in the handshake, or of a version without these secrets
  bool keys_known_ = true;
  bool owes_key_update_ = false;
};

}  // namespace headrace::tls
