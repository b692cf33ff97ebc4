#include "tun.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "units.h"

namespace headrace::link {
namespace {

using load::UniqueFd;

// Packets the device holds until we read them. Ample: chance and our own queue decide what is lost.
constexpr int kDeviceQueuePackets = 10'000;

bool failed(const EndOptions& options, const char* what) {
  std::fprintf(stderr, "headrace-link: %s:%s: %s: %s\n", options.netns.c_str(),
               options.name.c_str(), what, std::strerror(errno));
  return false;
}

// Is in another network namespace for as long as it lives.
class Visit {
 public:
  explicit Visit(const std::string& netns)
      : home_(::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC)) {
    const UniqueFd there(::open(("/var/run/netns/" + netns).c_str(), O_RDONLY | O_CLOEXEC));
    is_there_ = home_ && (netns.empty() || (there && ::setns(there.get(), CLONE_NEWNET) == 0));
  }
  ~Visit() {
    // To stay in the wrong namespace would make every later device in the wrong place.
    if (home_ && ::setns(home_.get(), CLONE_NEWNET) != 0) std::abort();
  }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

  bool is_there() const { return is_there_; }

 private:
  UniqueFd home_;
  bool is_there_ = false;
};

ifreq request_for(const EndOptions& options) {
  ifreq request{};
  std::memcpy(request.ifr_name, options.name.c_str(), options.name.size());
  return request;
}

bool set_address(int socket, const EndOptions& options, unsigned long what, in_addr address) {
  ifreq request = request_for(options);
  sockaddr_in value{};
  value.sin_family = AF_INET;
  value.sin_addr = address;
  std::memcpy(&request.ifr_addr, &value, sizeof(value));
  return ::ioctl(socket, what, &request) == 0 || failed(options, "address");
}

bool set_up(const EndOptions& options, int mtu_bytes) {
  const UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request = request_for(options);
  request.ifr_mtu = mtu_bytes;
  if (::ioctl(socket.get(), SIOCSIFMTU, &request) != 0) return failed(options, "MTU");
  request = request_for(options);
  request.ifr_qlen = kDeviceQueuePackets;
  if (::ioctl(socket.get(), SIOCSIFTXQLEN, &request) != 0) return failed(options, "queue");
  in_addr address{}, mask{};
  ::inet_pton(AF_INET, options.address.c_str(), &address);
  mask.s_addr = htonl(options.prefix_bits == 0 ? 0 : ~uint32_t{0} << (32 - options.prefix_bits));
  if (!set_address(socket.get(), options, SIOCSIFADDR, address) ||
      !set_address(socket.get(), options, SIOCSIFNETMASK, mask)) {
    return false;
  }
  request = request_for(options);
  if (::ioctl(socket.get(), SIOCGIFFLAGS, &request) != 0) return failed(options, "flags");
  request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP | IFF_RUNNING);
  return ::ioctl(socket.get(), SIOCSIFFLAGS, &request) == 0 || failed(options, "up");
}

}  // namespace

std::optional<EndOptions> parse_end(std::string_view text) {
  EndOptions options;
  const size_t first = text.find(':');
  const size_t second = text.find(':', first == std::string_view::npos ? first : first + 1);
  const size_t slash = text.find('/', second == std::string_view::npos ? second : second + 1);
  if (slash == std::string_view::npos) return std::nullopt;
  options.netns = text.substr(0, first);
  options.name = text.substr(first + 1, second - first - 1);
  options.address = text.substr(second + 1, slash - second - 1);
  const std::optional<int> bits = load::parse_number<int>(text.substr(slash + 1));
  in_addr address{};
  if (!bits || *bits < 0 || *bits > 32 || options.name.empty() || options.name.size() >= IFNAMSIZ ||
      options.netns.find('/') != std::string::npos ||
      ::inet_pton(AF_INET, options.address.c_str(), &address) != 1) {
    return std::nullopt;
  }
  options.prefix_bits = *bits;
  return options;
}

std::optional<Tun> Tun::make(const EndOptions& options, int mtu_bytes) {
  const Visit visit(options.netns);
  if (!visit.is_there()) return failed(options, "network namespace"), std::nullopt;
  Tun tun;
  tun.name_ = options.name;
  tun.fd_ = UniqueFd(::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!tun.fd_) return failed(options, "/dev/net/tun"), std::nullopt;
  ifreq request = request_for(options);
  request.ifr_flags = static_cast<short>(IFF_TUN | IFF_NO_PI | IFF_TUN_EXCL);
  if (::ioctl(tun.fd_.get(), TUNSETIFF, &request) != 0) {
    return failed(options, "device"), std::nullopt;
  }
  if (!set_up(options, mtu_bytes)) return std::nullopt;
  tun.counters_ = UniqueFd(::open("/proc/thread-self/net/dev", O_RDONLY | O_CLOEXEC));
  if (!tun.counters_) return failed(options, "/proc/net/dev"), std::nullopt;
  return tun;
}

// A line of /proc/net/dev: the name, a colon, eight receive counters, then transmit's bytes,
// packets, errs and drop.
uint64_t Tun::dropped() const {
  std::string text(64 * 1024, '\0');
  const ssize_t length = ::pread(counters_.get(), text.data(), text.size(), 0);
  text.resize(length > 0 ? static_cast<size_t>(length) : 0);
  const size_t at = text.find(" " + name_ + ":");
  if (at == std::string::npos) return 0;
  unsigned long long dropped = 0;
  const char* counters = text.c_str() + at + name_.size() + 2;
  std::sscanf(counters, "%*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %llu", &dropped);
  return dropped;
}

}  // namespace headrace::link
