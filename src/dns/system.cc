#include "dns/system.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/text.h"
#include "base/unique_fd.h"
#include "dns/options.h"
#include "dns/reply.h"

namespace headrace::dns {
namespace {

constexpr unsigned kNdotsMax = 15;     // resolv.conf(5)
constexpr size_t kNameBytesMax = 253;  // RFC 1035 section 3.1, less length bytes and root
constexpr std::string_view kBlanks = " \t\r";

// The next word of a line; empty at its end.
std::string_view take_word(std::string_view& line) {
  const size_t begin = std::min(line.find_first_not_of(kBlanks), line.size());
  line.remove_prefix(begin);
  const size_t end = std::min(line.find_first_of(kBlanks), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(end);
  return word;
}

std::string_view take_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

// As base/target.h writes a name: lower case, no trailing dot.
std::string normal_name(std::string_view name) {
  if (name.ends_with('.')) name.remove_suffix(1);
  return lowered(name);
}

// As c-ares wants it; a link-local one is named with its interface ("fe80::53%eth0").
std::optional<std::string> server_of(std::string_view word) {
  const std::string_view address_text = word.substr(0, word.find('%'));
  const std::optional<IpAddress> address = IpAddress::parse(address_text);
  if (!address) return std::nullopt;
  if (address_text.size() == word.size()) return net::Endpoint{*address, kServerPort}.to_string();
  if (!address->is_link_local() || address->is_v4()) return std::nullopt;
  return "[" + std::string(word) + "]:53";
}

void follow_options(std::string_view line, ServerSettings& settings) {
  for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
    if (word == "rotate") settings.rotate = true;
    if (!word.starts_with("ndots:")) continue;
    if (const std::optional<unsigned> ndots = parse_number<unsigned>(word.substr(6)))
      settings.ndots = std::min(*ndots, kNdotsMax);
  }
}

const std::vector<IpAddress>& loopback() {
  static const std::vector<IpAddress> addresses{*IpAddress::parse("127.0.0.1"),
                                                *IpAddress::parse("::1")};
  return addresses;
}

}  // namespace

Hosts Hosts::parse(std::string_view text) {
  Hosts hosts;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    line = line.substr(0, line.find('#'));
    // An address with a zone is passed over: what dials it could not say on which link.
    const std::optional<IpAddress> address = IpAddress::parse(take_word(line));
    if (!address) continue;
    for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
      std::vector<IpAddress>& known = hosts.addresses_[normal_name(word)];
      if (known.size() < kAddressesMax &&
          std::find(known.begin(), known.end(), *address) == known.end())
        known.push_back(*address);
    }
  }
  return hosts;
}

const std::vector<IpAddress>* Hosts::find(const std::string& name) const {
  if (const auto found = addresses_.find(name); found != addresses_.end()) return &found->second;
  if (name == "localhost" || name.ends_with(".localhost")) return &loopback();
  return nullptr;
}

ServerSettings ServerSettings::parse(std::string_view text, std::string_view own_domain) {
  ServerSettings settings;
  bool says_what_to_search = false;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    const std::string_view key = take_word(line);
    if (key == "nameserver") {
      if (std::optional<std::string> server = server_of(take_word(line)))
        settings.servers.push_back(std::move(*server));
    } else if (key == "search" || key == "domain") {  // the last one counts
      says_what_to_search = true;
      settings.search.clear();
      for (std::string_view word = take_word(line); !word.empty(); word = take_word(line))
        if (word != ".") settings.search.push_back(normal_name(word));
    } else if (key == "options") {
      follow_options(line, settings);
    }
  }
  if (!says_what_to_search && !own_domain.empty())
    settings.search.push_back(normal_name(own_domain));
  if (settings.servers.empty()) settings.servers.push_back("127.0.0.1:53");
  return settings;
}

std::vector<std::string> ServerSettings::candidates(const std::string& name) const {
  std::vector<std::string> names;
  names.reserve(search.size() + 1);
  const bool as_it_is_first =
      static_cast<size_t>(std::count(name.begin(), name.end(), '.')) >= ndots;
  if (as_it_is_first) names.push_back(name);
  for (const std::string& domain : search)
    if (name.size() + 1 + domain.size() <= kNameBytesMax) names.push_back(name + "." + domain);
  if (!as_it_is_first) names.push_back(name);
  return names;
}

std::string own_domain() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return {};
  const std::string_view text(name.data());
  const size_t dot = text.find('.');
  return dot == text.npos ? std::string() : std::string(text.substr(dot + 1));
}

std::optional<std::string> WatchedFile::read_if_changed(net::Instant now) {
  if (looked_ && now < *looked_ + kLookEvery) return std::nullopt;
  looked_ = now;

  struct stat status {};
  const bool exists = ::stat(path_.c_str(), &status) == 0;
  if (!exists && errno != ENOENT && errno != ENOTDIR) return std::nullopt;
  const Version version =
      exists ? Version{status.st_ino, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec}
             : Version{};
  if (read_ == version) return std::nullopt;

  std::string text;
  if (exists) {
    const UniqueFd file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file) return std::nullopt;
    std::array<char, 16 * 1024> piece;
    while (text.size() < kBytesMax) {
      const ssize_t bytes = ::read(file.get(), piece.data(), piece.size());
      if (bytes < 0 && errno == EINTR) continue;
      if (bytes < 0) return std::nullopt;
      if (bytes == 0) break;
      text.append(piece.data(), static_cast<size_t>(bytes));
    }
  }
  read_ = version;
  return text;
}

}  // namespace headrace::dns
