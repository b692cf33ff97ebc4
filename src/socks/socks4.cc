#include "socks/socks4.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace headrace::socks {
namespace {

constexpr size_t kHeadBytes = 8;  // VN CD DSTPORT DSTIP
constexpr size_t kAddressBytes = 4;

// A zero-terminated string at the front of `bytes`; the zero is consumed with it.
Parse<std::string_view> read_terminated(ByteSpan bytes, size_t bytes_max) {
  using ParseText = Parse<std::string_view>;
  const ByteSpan window = bytes.first(std::min(bytes.size(), bytes_max + 1));
  const auto end = std::find(window.begin(), window.end(), uint8_t{0});
  if (end != window.end()) {
    const size_t length = static_cast<size_t>(end - window.begin());
    return ParseText::done(as_text(window.first(length)), length + 1);
  }
  return window.size() > bytes_max ? ParseText::fail(Errc::too_large) : ParseText::need_more();
}

// 0.0.0.x with x other than 0: an address that cannot be meant, so the name stands behind the user
// id.
bool announces_name(const uint8_t* address) {
  return address[0] == 0 && address[1] == 0 && address[2] == 0 && address[3] != 0;
}

bool is_command4(uint8_t command) {
  return command == static_cast<uint8_t>(Command::connect) ||
         command == static_cast<uint8_t>(Command::bind);
}

// What the fields say once all of them are there. `name` stands in a 4a request.
void fill_in(Request4& request, ByteSpan head, std::optional<std::string_view> name) {
  const uint8_t command = head[1];
  const uint16_t port = load_u16(&head[2]);
  const IpAddress address = IpAddress::v4(&head[4]);

  request.asked = name ? std::string(*name) : address.to_string();
  request.asked += ':' + std::to_string(port);
  const std::optional<Host> host = name ? Host::parse(*name) : Host(address);
  if (!is_command4(command)) {
    request.refusal = Errc::unsupported;
  } else if (!host) {
    request.refusal = Errc::name_unknown;  // what is no name has no address
  } else if (!name && address == IpAddress()) {
    request.refusal = Errc::malformed;
  } else {
    request.command = static_cast<Command>(command);
    request.target = {*host, port};
  }
}

}  // namespace

Parse<Request4> parse_request4(ByteSpan bytes) {
  using ParseRequest = Parse<Request4>;
  if (bytes.empty()) return ParseRequest::need_more();
  if (bytes[0] != kVersion4) return ParseRequest::fail(Errc::malformed);
  if (bytes.size() < kHeadBytes) return ParseRequest::need_more();
  const ByteSpan head = bytes.first(kHeadBytes);
  size_t consumed_bytes = kHeadBytes;

  const auto user_id = read_terminated(bytes.subspan(consumed_bytes), kUserIdBytesMax);
  if (user_id.failed()) return ParseRequest::fail(user_id.error());
  if (user_id.needs_more()) return ParseRequest::need_more();
  consumed_bytes += user_id.consumed_bytes();

  std::optional<std::string_view> name;
  if (announces_name(&head[4])) {
    const auto parsed = read_terminated(bytes.subspan(consumed_bytes), kName4BytesMax);
    if (parsed.failed()) return ParseRequest::fail(parsed.error());
    if (parsed.needs_more()) return ParseRequest::need_more();
    consumed_bytes += parsed.consumed_bytes();
    name = *parsed;
  }

  Request4 request;
  request.user_id = *user_id;
  fill_in(request, head, name);
  return ParseRequest::done(std::move(request), consumed_bytes);
}

void append_reply4(std::string& out, ReplyCode4 code, const IpAddress& bound_address,
                   uint16_t bound_port) {
  const IpAddress bound = bound_address.unmapped();
  append_u8(out, 0);
  append_u8(out, static_cast<uint8_t>(code));
  append_u16(out, bound_port);
  if (bound.is_v4())
    out.append(as_text({bound.bytes(), kAddressBytes}));
  else
    out.append(kAddressBytes, '\0');
}

}  // namespace headrace::socks
