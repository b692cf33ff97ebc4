// The SOCKS parsers on any bytes. What must hold for each: a message is read the same whatever
// stands behind it, needs every one of its bytes, and a failure is final.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/check.h"
#include "base/parse.h"
#include "socks/socks4.h"
#include "socks/socks5.h"

namespace {

using namespace headrace;

// The longest message: version 4a with both strings at their limits.
constexpr size_t kMessageBytesMax = 8 + socks::kUserIdBytesMax + 1 + socks::kName4BytesMax + 1;

std::string told(const socks::Greeting& greeting) {
  return {greeting.offers_none ? '1' : '0', greeting.offers_password ? '1' : '0'};
}
std::string told(const socks::Credentials& credentials) {
  return credentials.user + '\n' + credentials.password;
}
std::string told(const socks::Request& request) {
  const std::string_view refusal = request.refusal ? name_of(request.refusal->what) : "";
  return (request.target.to_string() + '\n' + request.asked).append(refusal);
}
std::string told(const socks::Request4& request) {
  const std::string_view refusal = request.refusal ? name_of(*request.refusal) : "";
  return (request.target.to_string() + '\n' + request.asked + '\n' + request.user_id)
      .append(refusal);
}

void expect_sane(const socks::Greeting&) {}
void expect_sane(const socks::Credentials&) {}
void expect_sane_target(const Target& target) {
  if (target.port == 0) return;
  // What the parser gives is what its text says: no second reading of a target exists.
  HEADRACE_ASSERT(Target::parse(target.to_string()) == target);
}
void expect_sane(const socks::Request& request) {
  HEADRACE_ASSERT(request.asked.size() <= 261);
  expect_sane_target(request.target);
  if (request.refusal) HEADRACE_ASSERT(request.refusal->reply != socks::ReplyCode::succeeded);
}
void expect_sane(const socks::Request4& request) {
  HEADRACE_ASSERT(request.asked.size() <= 261);
  HEADRACE_ASSERT(request.user_id.size() <= socks::kUserIdBytesMax);
  expect_sane_target(request.target);
}

template <class T>
void run(Parse<T> (*parse)(ByteSpan), ByteSpan bytes) {
  const Parse<T> whole = parse(bytes);
  if (whole.needs_more()) {
    HEADRACE_ASSERT(bytes.size() < kMessageBytesMax);
    return;
  }
  if (whole) {
    HEADRACE_ASSERT(whole.consumed_bytes() <= std::min(bytes.size(), kMessageBytesMax));
    expect_sane(*whole);
  }
  const size_t shown_bytes = std::min(bytes.size(), kMessageBytesMax);
  for (size_t cut = 0; cut <= shown_bytes; ++cut) {
    const Parse<T> part = parse(bytes.first(cut));
    if (part.failed()) {
      HEADRACE_ASSERT(whole.failed() && part.error() == whole.error());
    } else if (part) {
      HEADRACE_ASSERT(whole && cut >= whole.consumed_bytes());
      HEADRACE_ASSERT(part.consumed_bytes() == whole.consumed_bytes());
      HEADRACE_ASSERT(told(*part) == told(*whole));
    } else {
      HEADRACE_ASSERT(!whole || cut < whole.consumed_bytes());
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const ByteSpan bytes(data, size);
  run(socks::parse_greeting, bytes);
  run(socks::parse_credentials, bytes);
  run(socks::parse_request, bytes);
  run(socks::parse_request4, bytes);
  return 0;
}
