// May this client go there? All that an operator allows and all that headrace refuses by itself, in
// one place and pure: who, how and where to in, a verdict out. Made from one configuration, never
// changed, shared by all workers.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "access/options.h"
#include "access/own_listeners.h"
#include "base/error.h"
#include "base/ip.h"
#include "base/target.h"

namespace headrace::access {

struct Client {
  std::optional<IpAddress>
      address;  // absent: a unix socket, whose file's mode says who may connect
  // Told by a proxy on another host (PROXY protocol), whose loopback is not ours.
  bool told_from_elsewhere = false;

  bool is_on_this_host() const {
    return !address || (!told_from_elsewhere && address->unmapped().is_loopback());
  }
};

enum class How : uint8_t {
  forward,  // an HTTP request that we send on
  connect,  // a tunnel by CONNECT
  socks,    // a tunnel by SOCKS
  sni,      // TLS to the server that the client named
  relay,    // to a destination that the operator fixed: his word, but for loops
};

struct Request {
  Client client;
  std::string_view user;  // verified name; empty: none was asked for
  How how;
  const Target& target;
  // The address to be dialled for `target`. Absent before its name is resolved.
  std::optional<IpAddress> address = {};
};

struct Verdict {
  std::optional<Errc> refusal;

  bool allowed() const { return !refusal; }
};

class Policy {
 public:
  Policy(Options options, OwnListeners own_listeners);

  // On accept, before a byte is read.
  bool may_client_connect(const Client& client) const;

  bool needs_credentials() const { return !options_.users.empty(); }
  bool knows(std::string_view user, std::string_view password) const {
    return options_.users.verify(user, password);
  }

  // Asked twice: before names are resolved, so that nothing is looked up for what is refused
  // anyway, and for each address before it is dialled, as a name may lead anywhere. A literal is
  // judged as the address that it is the first time already.
  Verdict judge(const Request& request) const;

 private:
  std::optional<Errc> judge_client(const Request& request) const;
  std::optional<Errc> judge_port(const Request& request) const;
  std::optional<Errc> judge_address(const Request& request, const IpAddress& address) const;

  Options options_;
  OwnListeners own_listeners_;
};

}  // namespace headrace::access
