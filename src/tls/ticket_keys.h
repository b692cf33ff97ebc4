// The keys that session tickets are sealed with: ours and not the library's, so that a ticket that
// one worker gave is good at all of them. Made here they live in memory only, and a restart ends
// the sessions; given by the operator they are good wherever else he gives them.
//
// Any thread; a lock for a moment in each handshake that makes or reads a ticket.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/bytes.h"

namespace headrace::tls {

class TicketKeys {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr size_t kNameBytes = 16;
  // A new key seals from then on; the one before opens for as long again.
  static constexpr std::chrono::hours kRotation{12};
  // A ticket is good for so long, so the key that sealed it is never gone before.
  static constexpr std::chrono::hours kTicketLifetime{12};

  struct Key {
    std::array<uint8_t, kNameBytes> name;
    std::array<uint8_t, 32> aes;
    std::array<uint8_t, 32> hmac;
  };

  static constexpr size_t kKeyBytes = kNameBytes + 32 + 32;
  static constexpr size_t kGivenMax = 16;

  explicit TicketKeys(Time now = std::chrono::steady_clock::now());
  // Given ones: the first seals, all open, until they are replaced.
  explicit TicketKeys(std::vector<Key> given) : given_(std::move(given)) {}
  void replace(std::vector<Key> given);
  // The bytes of a file: name, key of HMAC-SHA-256, key of AES-256 of each, as nginx has them too.
  // Empty where they are not 1 to kGivenMax whole keys.
  static std::vector<Key> parse(ByteSpan bytes);

  // To seal with.
  Key current(Time now = std::chrono::steady_clock::now());
  // To open with; none where the ticket is not ours, or too old.
  std::optional<Key> find(std::span<const uint8_t, kNameBytes> name,
                          Time now = std::chrono::steady_clock::now());

 private:
  void rotate(Time now);

  std::mutex mutex_;
  std::vector<Key> given_;  // or else:
  Key current_;
  std::optional<Key> previous_;
  Time made_;
};

}  // namespace headrace::tls
