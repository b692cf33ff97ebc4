// A name server that does what a test tells it: UDP and TCP on one port of loopback, in the test's
// own thread, served by poll().
#pragma once

#include <sys/socket.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "messages.h"
#include "net/endpoint.h"

namespace headrace::dns {

class ScriptedServer {
 public:
  struct Asked : Question {
    net::Endpoint from;
    bool over_tcp = false;
  };
  // What goes back, message by message; empty: silence.
  using Script = std::function<std::vector<std::string>(const Asked&)>;

  explicit ScriptedServer(const char* address = "127.0.0.1");

  std::string name() const { return endpoint_.to_string(); }
  void answer(Script script) { script_ = std::move(script); }
  // Without: connections to the port are refused.
  void listen_for_tcp();
  // TCP answers go out in pieces of this size, one at each poll().
  void write_in_pieces_of(size_t bytes) { piece_bytes_ = bytes; }
  void close_tcp_at_once() { close_tcp_at_once_ = true; }

  // Serves what has come.
  void poll();
  const std::vector<Asked>& asked() const { return asked_; }
  size_t count(const std::string& name, uint16_t type) const;

  // Sends a datagram from this server's port unasked.
  void send(const std::string& message, const net::Endpoint& to);

 private:
  struct Connection {
    UniqueFd fd;
    net::Endpoint from;
    std::string in;
    std::string out;
  };

  std::vector<std::string> take(const std::string& message, const net::Endpoint& from,
                                bool over_tcp);
  void poll_datagrams();
  void poll_connection(Connection& connection);

  net::Endpoint endpoint_;
  UniqueFd udp_;
  UniqueFd listener_;
  std::vector<std::unique_ptr<Connection>> connections_;
  Script script_ = [](const Asked& asked) {
    return std::vector<std::string>{Message(asked).any_address().bytes()};
  };
  std::vector<Asked> asked_;
  size_t piece_bytes_ = 65'536;
  bool close_tcp_at_once_ = false;
};

}  // namespace headrace::dns
