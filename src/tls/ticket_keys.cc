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

bool wants_another_ticket(const SSL* connection, const TicketKeys::Key& key, TicketKeys& keys) {
  return SSL_version(connection) == TLS1_3_VERSION || keys.current().name != key.name;
}

TicketKeys::TicketKeys(Time now) : current_(new_key()), made_(now) {}

void TicketKeys::replace(std::vector<Key> given) {
  std::lock_guard lock(mutex_);
  given_ = std::move(given);
}

std::vector<TicketKeys::Key> TicketKeys::parse(ByteSpan bytes) {
  std::vector<Key> keys;
  if (bytes.size() % kKeyBytes != 0 || bytes.size() / kKeyBytes > kGivenMax) return keys;
  for (; !bytes.empty(); bytes = bytes.subspan(kKeyBytes)) {
    Key& key = keys.emplace_back();
    auto from = bytes.begin();
    for (const std::span<uint8_t> part :
         {std::span<uint8_t>(key.name), std::span<uint8_t>(key.hmac),
          std::span<uint8_t>(key.aes)}) {
      std::copy_n(from, part.size(), part.begin());
      from += static_cast<std::ptrdiff_t>(part.size());
    }
  }
  return keys;
}

void TicketKeys::rotate(Time now) {
  if (now < made_ + kRotation) return;
  const bool both_too_old = now >= made_ + 2 * kRotation;
  previous_ = both_too_old ? std::nullopt : std::optional(current_);
  current_ = new_key();
  made_ = now;
}

TicketKeys::Key TicketKeys::current(Time now) {
  std::lock_guard lock(mutex_);
  if (!given_.empty()) return given_.front();
  rotate(now);
  return current_;
}

std::optional<TicketKeys::Key> TicketKeys::find(std::span<const uint8_t, kNameBytes> name,
                                                Time now) {
  std::lock_guard lock(mutex_);
  for (const Key& key : given_)
    if (std::equal(name.begin(), name.end(), key.name.begin())) return key;
  if (!given_.empty()) return std::nullopt;
  rotate(now);
  if (std::equal(name.begin(), name.end(), current_.name.begin())) return current_;
  if (previous_ && std::equal(name.begin(), name.end(), previous_->name.begin())) return previous_;
  return std::nullopt;
}

}  // namespace headrace::tls
