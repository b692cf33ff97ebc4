// What the system says about names: /etc/hosts and /etc/resolv.conf.
//
// Read by us and not by c-ares, which would read /etc/hosts anew for every name, and which falls
// back to a server on this host when it finds no descriptor to read /etc/resolv.conf with.
#pragma once

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/ip.h"
#include "net/clock.h"

namespace headrace::dns {

// hosts(5).
class Hosts {
 public:
  Hosts() = default;
  static Hosts parse(std::string_view text);

  // The addresses of a name, in the file's order; nullptr where the file does not know it.
  // localhost and all below it are this host in any case (RFC 6761 section 6.3).
  const std::vector<IpAddress>* find(const std::string& name) const;

 private:
  std::unordered_map<std::string, std::vector<IpAddress>> addresses_;
};

// resolv.conf(5). Of its options only ndots and rotate are followed: how often and how long to try
// is headrace's own configuration.
struct ServerSettings {
  std::vector<std::string> servers;  // "192.0.2.53:53", "[2001:db8::53]:53", "[fe80::53%eth0]:53"
  std::vector<std::string> search;
  unsigned ndots = 1;
  bool rotate = false;

  // `own_domain` is searched where the text names nothing to search; it may be empty.
  static ServerSettings parse(std::string_view text, std::string_view own_domain);

  // What to ask for, one after the other: with fewer dots than ndots the searched domains come
  // first.
  std::vector<std::string> candidates(const std::string& name) const;
};

// The domain part of this host's name; empty where it has none.
std::string own_domain();

// A file that may change at any time and is looked at now and then.
class WatchedFile {
 public:
  static constexpr net::Duration kLookEvery = std::chrono::seconds(1);
  // A longer file is cut there.
  static constexpr size_t kBytesMax = 16 * 1024 * 1024;

  explicit WatchedFile(std::string path) : path_(std::move(path)) {}

  // Its text, if it was changed since it was read last; a file that does not exist has an empty
  // one. nullopt also where it cannot be read at the moment: what was read before holds, and the
  // next look tries again.
  std::optional<std::string> read_if_changed(net::Instant now);

 private:
  struct Version {
    uint64_t inode = 0;
    int64_t bytes = 0;
    int64_t changed_seconds = 0;
    int64_t changed_nanoseconds = 0;
    friend bool operator==(const Version&, const Version&) = default;
  };

  std::string path_;
  std::optional<Version> read_;
  std::optional<net::Instant> looked_;
};

}  // namespace headrace::dns
