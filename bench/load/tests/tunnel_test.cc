#include "tunnel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace headrace::load {
namespace {

using namespace std::string_literals;
using State = Tunnel::State;

// What the proxy says, as far as the tunnel wants it, in pieces of `piece` bytes. All of the
// tunnel's own words are collected in `said`.
State talk(Tunnel& tunnel, std::string_view answers, size_t piece, std::string& said) {
  State state = State::going_on;
  while (state == State::going_on) {
    said += tunnel.to_send();
    tunnel.sent(tunnel.to_send().size());
    const size_t length = std::min({piece, tunnel.wanted(), answers.size()});
    if (length == 0) return state;
    state = tunnel.take({reinterpret_cast<const uint8_t*>(answers.data()), length});
    answers.remove_prefix(length);
  }
  EXPECT_TRUE(answers.empty()) << "bytes of the relay were touched";
  return state;
}

struct Case {
  const char* what;
  Tunnel::Kind kind;
  const char* target;
  Credentials user;
  std::string answers;
  State end;
  std::string said;  // checked where the tunnel opens
};

const Case kCases[] = {
    {"connect",
     Tunnel::Kind::connect,
     "10.0.0.1:80",
     {},
     "HTTP/1.1 200 OK\r\nVia: x\r\n\r\n",
     State::open,
     "CONNECT 10.0.0.1:80 HTTP/1.1\r\nHost: 10.0.0.1:80\r\n\r\n"},
    {"connect with user",
     Tunnel::Kind::connect,
     "a.b:443",
     {"Aladdin", "open sesame"},
     "HTTP/1.0 200 Connection established\r\n\r\n",
     State::open,
     "CONNECT a.b:443 HTTP/1.1\r\nHost: a.b:443\r\n"
     "Proxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n\r\n"},
    {"connect refused",
     Tunnel::Kind::connect,
     "10.0.0.1:80",
     {},
     "HTTP/1.1 403 Forbidden\r\n\r\n",
     State::refused,
     ""},
    {"connect unfinished",
     Tunnel::Kind::connect,
     "10.0.0.1:80",
     {},
     "HTTP/1.1 200 OK\r\n",
     State::going_on,
     ""},
    {"socks, IPv4",
     Tunnel::Kind::socks5,
     "10.0.0.1:80",
     {},
     "\5\0\5\0\0\1\0\0\0\0\0\0"s,
     State::open,
     "\5\1\0\5\1\0\1\12\0\0\1\0\120"s},
    {"socks, IPv6 both ways",
     Tunnel::Kind::socks5,
     "[::1]:258",
     {},
     "\5\0\5\0\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"s,
     State::open,
     "\5\1\0\5\1\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\1\2"s},
    {"socks, name both ways",
     Tunnel::Kind::socks5,
     "a.b:443",
     {},
     "\5\0\5\0\0\3\3x.y\1\2"s,
     State::open,
     "\5\1\0\5\1\0\3\3a.b\1\273"s},
    {"socks, empty bound name",
     Tunnel::Kind::socks5,
     "a.b:443",
     {},
     "\5\0\5\0\0\3\0\1\2"s,
     State::open,
     "\5\1\0\5\1\0\3\3a.b\1\273"s},
    {"socks with user",
     Tunnel::Kind::socks5,
     "10.0.0.1:80",
     {"me", "pw"},
     "\5\2\1\0\5\0\0\1\0\0\0\0\0\0"s,
     State::open,
     "\5\1\2\1\2me\2pw\5\1\0\1\12\0\0\1\0\120"s},
    {"socks, user refused",
     Tunnel::Kind::socks5,
     "10.0.0.1:80",
     {"me", "pw"},
     "\5\2\1\1"s,
     State::refused,
     ""},
    {"socks, no method", Tunnel::Kind::socks5, "10.0.0.1:80", {}, "\5\377"s, State::refused, ""},
    {"socks, method not offered",
     Tunnel::Kind::socks5,
     "10.0.0.1:80",
     {},
     "\5\2"s,
     State::refused,
     ""},
    {"socks, version 4", Tunnel::Kind::socks5, "10.0.0.1:80", {}, "\4\0"s, State::refused, ""},
};

TEST(Tunnel, says_and_accepts_what_the_protocols_ask_for_however_it_is_cut) {
  for (const Case& c : kCases) {
    for (const size_t piece : {1u, 2u, 3u, 5u, 1000u}) {
      Tunnel tunnel(c.kind, c.target, c.user);
      std::string said;
      EXPECT_EQ(talk(tunnel, c.answers, piece, said), c.end) << c.what << ", pieces of " << piece;
      EXPECT_EQ(tunnel.refusal().empty(), c.end != State::refused) << c.what;
      if (c.end == State::open) {
        EXPECT_EQ(said, c.said) << c.what;
      }
    }
  }
}

TEST(Tunnel, socks_refusals_carry_the_reply_code) {
  Tunnel tunnel(Tunnel::Kind::socks5, "10.0.0.1:80", {});
  std::string said;
  // The rest of a refusal is not waited for.
  const uint8_t bytes[] = {5, 0};
  tunnel.take(bytes);
  const uint8_t reply[] = {5, 5, 0, 1, 0};
  EXPECT_EQ(tunnel.take(reply), State::refused);
  EXPECT_EQ(tunnel.refusal(), "SOCKS5: reply 5");
}

TEST(Tunnel, bytes_behind_the_head_of_connect_are_refused) {
  Tunnel tunnel(Tunnel::Kind::connect, "10.0.0.1:80", {});
  const std::string answer = "HTTP/1.1 200 OK\r\n\r\nx";
  EXPECT_EQ(tunnel.take({reinterpret_cast<const uint8_t*>(answer.data()), answer.size()}),
            State::refused);
}

}  // namespace
}  // namespace headrace::load
