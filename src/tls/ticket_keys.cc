#include "tls/ticket_keys.h"

#include <algorithm>

#include "base/check.h"
#include "tls/library.h"

namespace headrace::tls {
namespace {

void fill(std::span<uint8_t> bytes) {
  const int filled = RAND_bytes(bytes.data(), static_cast<int>(bytes.size()));
  HEADRACE_ASSERT(filled == 1);  // without random bytes there is no TLS at all
}

TicketKeys::Key new_key() {
  TicketKeys::Key key;
  fill(key.name);
  fill(key.aes);
  fill(key.hmac);
  return key;
}

}  // namespace

TicketKeys::TicketKeys(Time now) : current_(new_key()), made_(now) {}

void TicketKeys::rotate(Time now) {
  if (now < made_ + kRotation) return;
  const bool both_too_old = now >= made_ + 2 * kRotation;
  previous_ = both_too_old ? std::nullopt : std::optional(current_);
  current_ = new_key();
  made_ = now;
}

TicketKeys::Key TicketKeys::current(Time now) {
  std::lock_guard lock(mutex_);
  rotate(now);
  return current_;
}

std::optional<TicketKeys::Key> TicketKeys::find(std::span<const uint8_t, kNameBytes> name,
                                                Time now) {
  std::lock_guard lock(mutex_);
  rotate(now);
  if (std::equal(name.begin(), name.end(), current_.name.begin())) return current_;
  if (previous_ && std::equal(name.begin(), name.end(), previous_->name.begin())) return previous_;
  return std::nullopt;
}

}  // namespace headrace::tls
