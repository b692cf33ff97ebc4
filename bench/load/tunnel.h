// The client's side of CONNECT (RFC 9110 section 9.3.6) and SOCKS5 (RFC 1928, 1929): bytes in,
// bytes out, no socket.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace headrace::load {

struct Credentials {
  std::string name;
  std::string password;
  bool empty() const { return name.empty(); }
};

// The value of Proxy-Authorization.
std::string basic_authorization(const Credentials& user);

class Tunnel {
 public:
  enum class Kind : uint8_t { connect, socks5 };
  enum class State : uint8_t { going_on, open, refused };

  // `target` is HOST:PORT; a name is left to the proxy to resolve.
  Tunnel(Kind kind, std::string_view target, const Credentials& user);

  // What to send next; `sent` tells how much of it went out.
  std::string_view to_send() const { return std::string_view(out_).substr(sent_); }
  void sent(size_t bytes) { sent_ += bytes; }

  // How many bytes may be read at most before take() is asked again: never more than the answer
  // is known to have. (CONNECT's end is not known; behind it nothing comes unasked from our
  // origin.)
  size_t wanted() const { return message_bytes_ - in_.size(); }
  State take(std::span<const uint8_t> bytes);

  const std::string& refusal() const { return refusal_; }

 private:
  enum class Step : uint8_t { connect_head, greeting, authentication, reply };

  State take_connect();
  State take_socks();
  State take_socks_reply();
  State refuse(std::string why);
  void ask_socks(Step next, std::string out, size_t answer_bytes);
  std::string socks_request() const;

  Step step_;
  std::string target_host_;
  uint16_t target_port_ = 0;
  Credentials user_;
  std::string out_;
  size_t sent_ = 0;
  std::string in_;
  size_t message_bytes_ = 0;  // how long the answer is, as far as it is known
  std::string refusal_;
};

}  // namespace headrace::load
