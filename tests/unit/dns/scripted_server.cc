#include "scripted_server.h"

#include <algorithm>
#include <array>

#include "base/bytes.h"
#include "base/check.h"

namespace headrace::dns {
namespace {

// An empty one where the port is taken.
UniqueFd bound_socket(int type, const net::Endpoint& endpoint) {
  const net::SocketName name(endpoint);
  UniqueFd fd(::socket(name.family(), type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (::bind(fd.get(), name.get(), name.length) != 0) fd.close();
  return fd;
}

}  // namespace

// The port must be free for both; while nobody listens on it, connections to it are refused.
ScriptedServer::ScriptedServer(const char* address) {
  while (!listener_) {
    udp_ = bound_socket(SOCK_DGRAM, {IpAddress::parse(address).value(), 0});
    HEADRACE_ASSERT(udp_);
    endpoint_ = net::local_endpoint(udp_.get()).value();
    listener_ = bound_socket(SOCK_STREAM, endpoint_);
  }
}

void ScriptedServer::listen_for_tcp() {
  HEADRACE_ASSERT(::listen(listener_.get(), 16) == 0);
}

size_t ScriptedServer::count(const std::string& name, uint16_t type) const {
  return static_cast<size_t>(std::count_if(asked_.begin(), asked_.end(), [&](const Asked& asked) {
    return asked.name == name && asked.type == type;
  }));
}

void ScriptedServer::send(const std::string& message, const net::Endpoint& to) {
  const net::SocketName name(to);
  ::sendto(udp_.get(), message.data(), message.size(), MSG_NOSIGNAL, name.get(), name.length);
}

std::vector<std::string> ScriptedServer::take(const std::string& message, const net::Endpoint& from,
                                              bool over_tcp) {
  const std::optional<Question> question = Question::parse(message);
  HEADRACE_ASSERT(question.has_value());
  asked_.push_back({*question, from, over_tcp});
  return script_(Asked(asked_.back()));
}

void ScriptedServer::poll() {
  poll_datagrams();
  for (;;) {
    net::SocketName from;
    UniqueFd fd(::accept4(listener_.get(), from.get(), &from.length, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd) break;
    if (close_tcp_at_once_) continue;
    auto connection = std::make_unique<Connection>();
    connection->fd = std::move(fd);
    connection->from = from.endpoint().value();
    connections_.push_back(std::move(connection));
  }
  for (const auto& connection : connections_) poll_connection(*connection);
  std::erase_if(connections_, [](const auto& connection) { return !connection->fd; });
}

void ScriptedServer::poll_datagrams() {
  std::array<char, 4096> buffer;
  for (;;) {
    net::SocketName from;
    const ssize_t bytes =
        ::recvfrom(udp_.get(), buffer.data(), buffer.size(), 0, from.get(), &from.length);
    if (bytes < 0) return;
    const net::Endpoint asker = from.endpoint().value();
    for (const std::string& answer :
         take(std::string(buffer.data(), static_cast<size_t>(bytes)), asker, false))
      send(answer, asker);
  }
}

void ScriptedServer::poll_connection(Connection& connection) {
  std::array<char, 4096> buffer;
  const ssize_t bytes = ::recv(connection.fd.get(), buffer.data(), buffer.size(), 0);
  if (bytes == 0) return connection.fd.close();
  if (bytes > 0) connection.in.append(buffer.data(), static_cast<size_t>(bytes));
  while (connection.in.size() >= 2) {
    const size_t length = load_u16(reinterpret_cast<const uint8_t*>(connection.in.data()));
    if (connection.in.size() < 2 + length) break;
    for (const std::string& answer : take(connection.in.substr(2, length), connection.from, true)) {
      append_u16(connection.out, static_cast<uint16_t>(answer.size()));
      connection.out += answer;
    }
    connection.in.erase(0, 2 + length);
  }
  const size_t piece = std::min(connection.out.size(), piece_bytes_);
  if (piece == 0) return;
  const ssize_t sent = ::send(connection.fd.get(), connection.out.data(), piece, MSG_NOSIGNAL);
  if (sent > 0) connection.out.erase(0, static_cast<size_t>(sent));
}

}  // namespace headrace::dns
