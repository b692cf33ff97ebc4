// The world around the program under test: clients and origins that speak to the kernel directly.
// They never go through net::sys, so a fault that is injected there hits the program and not those
// who watch it. Nothing here waits: a test turns the loop and looks again.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/unique_fd.h"
#include "net/endpoint.h"

namespace headrace::io {

// Sizes of a socket's buffers; 0 leaves the kernel's own.
struct BufferSizes {
  int receive_bytes = 0;
  int send_bytes = 0;
};

net::Endpoint loopback(uint16_t port, const char* address = "127.0.0.1");

class PlainSocket {
 public:
  // How its incoming side ended.
  enum class End : uint8_t { open, clean, reset };

  PlainSocket() = default;
  explicit PlainSocket(UniqueFd fd) : fd_(std::move(fd)) {}
  // Begins to connect; what is sent before the connection stands goes out then.
  static PlainSocket connect_to(const net::Endpoint& endpoint, BufferSizes sizes = {});

  bool is_open() const { return static_cast<bool>(fd_); }
  int fd() const { return fd_.get(); }

  // Everything is queued and leaves as the kernel takes it.
  void send(std::string_view bytes);
  // FIN behind what was sent.
  void shut_writes();
  // RST, now.
  void reset();
  void close() { fd_.close(); }

  // Sends what is queued, as far as the kernel takes it; true when nothing is left.
  bool flush();
  size_t unsent_bytes() const { return outgoing_.size(); }
  // Sends from `bytes` what the kernel takes at once, and says how much that is.
  size_t send_some(std::string_view bytes);

  // Takes what has come, at most `bytes_max`; the number of bytes taken.
  size_t receive(size_t bytes_max = SIZE_MAX);
  // Everything taken so far, after taking what has come.
  const std::string& received();
  // The same, and forgets it.
  std::string take_received();
  // After taking what has come.
  End end();
  // The same two of what was taken by receive(), for those who read slowly.
  std::string take() { return std::exchange(received_, {}); }
  End end_seen() const { return end_; }

 private:
  void note_failure(int os_errno);

  UniqueFd fd_;
  std::string outgoing_;
  std::string received_;
  End end_ = End::open;
  bool shut_when_sent_ = false;
  bool reset_seen_ = false;  // by sending
};
std::ostream& operator<<(std::ostream& out, PlainSocket::End end);

// A socket that listens on a free port of loopback, or on a given port.
class PlainListener {
 public:
  explicit PlainListener(const char* address = "127.0.0.1", uint16_t port = 0, int backlog = 1024,
                         BufferSizes sizes = {});

  net::Endpoint endpoint() const { return endpoint_; }
  uint16_t port() const { return endpoint_.port; }
  std::string name() const { return endpoint_.to_string(); }
  int fd() const { return fd_.get(); }
  UniqueFd take_fd() { return std::move(fd_); }

  // The next connection, if there is one.
  std::optional<PlainSocket> accept();
  // Connections that stand and were not accepted.
  size_t waiting() const;
  void close() { fd_.close(); }

 private:
  UniqueFd fd_;
  net::Endpoint endpoint_;
};

// An address that takes no connection and does not refuse any: its backlog is full, so the kernel
// drops what comes.
class BlackHole {
 public:
  explicit BlackHole(const char* address = "127.0.0.1", uint16_t port = 0);
  net::Endpoint endpoint() const { return listener_.endpoint(); }
  uint16_t port() const { return listener_.port(); }

 private:
  PlainListener listener_;
  PlainSocket filler_;
};

// A port of loopback that nobody listens on, and nobody else gets while this lives.
class RefusedPort {
 public:
  explicit RefusedPort(const char* address = "127.0.0.1", uint16_t port = 0);
  net::Endpoint endpoint() const { return endpoint_; }
  uint16_t port() const { return endpoint_.port; }

 private:
  UniqueFd fd_;
  net::Endpoint endpoint_;
};

// A port that is free on all of these addresses.
uint16_t free_port(std::initializer_list<const char*> addresses);

// Bytes that tell where they are from: any two ranges of them that differ in begin differ in
// content.
std::string pattern(uint64_t begin, size_t bytes);

}  // namespace headrace::io
