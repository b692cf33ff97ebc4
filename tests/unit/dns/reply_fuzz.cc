// Any bytes as a name server's answer: no crash, and what comes out keeps its bounds.
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "dns/reply.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using headrace::IpAddress;
  using headrace::dns::Reply;
  for (const IpAddress::Family family : {IpAddress::Family::v4, IpAddress::Family::v6}) {
    const std::optional<Reply> reply = headrace::dns::parse_reply({data, size}, family);
    if (!reply) continue;
    const bool has_addresses = reply->kind == Reply::Kind::addresses;
    HEADRACE_ASSERT(has_addresses == !reply->addresses.empty());
    HEADRACE_ASSERT(reply->addresses.size() <= headrace::dns::kAddressesMax);
    HEADRACE_ASSERT(!has_addresses || reply->ttl_seconds.has_value());
    HEADRACE_ASSERT(reply->ttl_seconds.value_or(0) <= INT32_MAX);
    for (const IpAddress& address : reply->addresses) HEADRACE_ASSERT(address.family() == family);
  }
  return 0;
}
