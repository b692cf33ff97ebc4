#include "tunnel.h"

#include <arpa/inet.h>
#include <openssl/evp.h>

#include <tuple>

#include "units.h"

namespace headrace::load {
namespace {

constexpr size_t kConnectAnswerBytesMax = 4096;
// Version, reply, reserved, type of address, its first byte.
constexpr size_t kReplyHeadBytes = 5;

// Splits HOST:PORT; brackets of IPv6 are taken off. The options have been checked before.
std::pair<std::string, uint16_t> split_target(std::string_view target) {
  const size_t colon = target.rfind(':');
  std::string_view host = target.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return {std::string(host), parse_number<uint16_t>(target.substr(colon + 1)).value_or(0)};
}

std::string connect_request(std::string_view target, const Credentials& user) {
  std::string out = "CONNECT " + std::string(target) + " HTTP/1.1\r\nHost: " + std::string(target);
  if (!user.empty()) out += "\r\nProxy-Authorization: " + basic_authorization(user);
  return out + "\r\n\r\n";
}

std::string with_length(const std::string& text) {
  return std::string(1, static_cast<char>(text.size())) + text;
}

}  // namespace

std::string basic_authorization(const Credentials& user) {
  const std::string plain = user.name + ":" + user.password;
  std::string encoded(4 * ((plain.size() + 2) / 3) + 1, '\0');
  const int length = ::EVP_EncodeBlock(reinterpret_cast<unsigned char*>(encoded.data()),
                                       reinterpret_cast<const unsigned char*>(plain.data()),
                                       static_cast<int>(plain.size()));
  encoded.resize(static_cast<size_t>(length));
  return "Basic " + encoded;
}

Tunnel::Tunnel(Kind kind, std::string_view target, const Credentials& user) : user_(user) {
  std::tie(target_host_, target_port_) = split_target(target);
  if (kind == Kind::connect) {
    step_ = Step::connect_head;
    out_ = connect_request(target, user);
    message_bytes_ = kConnectAnswerBytesMax;
  } else {
    const char method = user.empty() ? '\0' : '\2';
    ask_socks(Step::greeting, std::string{'\5', '\1', method}, 2);
  }
}

Tunnel::State Tunnel::refuse(std::string why) {
  refusal_ = std::move(why);
  return State::refused;
}

Tunnel::State Tunnel::take(std::span<const uint8_t> bytes) {
  in_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return step_ == Step::connect_head ? take_connect() : take_socks();
}

Tunnel::State Tunnel::take_connect() {
  const size_t end = in_.find("\r\n\r\n");
  if (end == std::string::npos) {
    if (in_.size() >= kConnectAnswerBytesMax) return refuse("CONNECT: endless head");
    return State::going_on;
  }
  const std::string line = in_.substr(0, in_.find("\r\n"));
  // "HTTP/1.x 2xx": any other answer refuses the tunnel.
  if (!line.starts_with("HTTP/1.") || line.size() < 12 || line[9] != '2') {
    return refuse("CONNECT: " + line);
  }
  if (in_.size() > end + 4) return refuse("CONNECT: bytes nobody asked for behind the head");
  return State::open;
}

void Tunnel::ask_socks(Step next, std::string out, size_t answer_bytes) {
  step_ = next;
  out_ = std::move(out);
  sent_ = 0;
  in_.clear();
  message_bytes_ = answer_bytes;
}

std::string Tunnel::socks_request() const {
  std::string out = {'\5', '\1', '\0'};
  unsigned char address[16];
  if (::inet_pton(AF_INET, target_host_.c_str(), address) == 1) {
    out += '\1';
    out.append(reinterpret_cast<char*>(address), 4);
  } else if (::inet_pton(AF_INET6, target_host_.c_str(), address) == 1) {
    out += '\4';
    out.append(reinterpret_cast<char*>(address), 16);
  } else {
    out += '\3' + with_length(target_host_);
  }
  out += static_cast<char>(target_port_ >> 8);
  out += static_cast<char>(target_port_ & 0xff);
  return out;
}

Tunnel::State Tunnel::take_socks() {
  if (in_.size() < message_bytes_) return State::going_on;
  if (in_[0] != '\5' && step_ != Step::authentication) return refuse("SOCKS5: not version 5");
  switch (step_) {
    case Step::greeting:
      if (in_[1] == '\2' && !user_.empty()) {
        ask_socks(Step::authentication,
                  '\1' + with_length(user_.name) + with_length(user_.password), 2);
      } else if (in_[1] == '\0') {
        ask_socks(Step::reply, socks_request(), kReplyHeadBytes);
      } else {
        return refuse("SOCKS5: no method in common");
      }
      return State::going_on;
    case Step::authentication:
      if (in_[1] != '\0') return refuse("SOCKS5: user refused");
      ask_socks(Step::reply, socks_request(), kReplyHeadBytes);
      return State::going_on;
    default:
      return take_socks_reply();
  }
}

Tunnel::State Tunnel::take_socks_reply() {
  if (in_[1] != '\0') return refuse("SOCKS5: reply " + std::to_string(in_[1]));
  // The head is as long as the shortest bound address allows: four bytes, its type and one more.
  const auto first = static_cast<uint8_t>(in_[4]);
  const size_t address_bytes = in_[3] == '\1'   ? 4
                               : in_[3] == '\4' ? 16
                               : in_[3] == '\3' ? size_t{1} + first
                                                : 0;
  if (address_bytes == 0) return refuse("SOCKS5: unknown type of address");
  message_bytes_ = 4 + address_bytes + 2;
  return in_.size() < message_bytes_ ? State::going_on : State::open;
}

}  // namespace headrace::load
