#include "dns/channel.h"

// The functions used here are in every version; the later ones would rather see others used.
#define CARES_NO_DEPRECATED
#include <ares.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "base/check.h"
#include "net/sys.h"

namespace headrace::dns {
namespace {

constexpr int kClassInternet = 1;
constexpr int kTypeA = 1;
constexpr int kTypeAaaa = 28;
constexpr ssize_t kHeaderBytes = 12;

enum class Interfaces { named, left_out };

std::string joined(std::span<const std::string> servers, Interfaces interfaces) {
  std::string list;
  for (const std::string& server : servers) {
    const bool names_interface = server.find('%') != server.npos;
    if (names_interface && interfaces == Interfaces::left_out) continue;
    if (!list.empty()) list += ',';
    list += server;
  }
  return list;
}

// A link-local server is named with its interface. 1.18 knows none, and later versions may not find
// this one; all of them refuse the whole list then.
bool set_servers(ares_channeldata* channel, std::span<const std::string> servers) {
  for (const Interfaces interfaces : {Interfaces::named, Interfaces::left_out}) {
    const std::string list = joined(servers, interfaces);
    if (ares_set_servers_ports_csv(channel, list.c_str()) == ARES_SUCCESS) return true;
  }
  return false;
}

// c-ares 1.18 draws its ids from a generator whose seeding is broken, and from rand(3) where it
// gets no descriptor for /dev/urandom; what it is given it takes. Later versions have their own,
// sound ids.
uint16_t random_id() {
  uint16_t id = 0;
  const ssize_t bytes = ::getrandom(&id, sizeof(id), 0);
  HEADRACE_ASSERT(bytes == sizeof(id));  // so few bytes come whole once the system has booted
  return id;
}

template <class Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

}  // namespace

struct Channel::Socket : net::Watch {
  Socket(net::Runnable& owner, int descriptor, bool is_stream)
      : Watch(owner), fd(descriptor), stream(is_stream) {}

  int fd;  // c-ares opens and closes it by our Calls; -1 once it did
  bool stream;
  uint32_t events = 0;  // watched for; 0 until it is in the loop
};

// What c-ares calls. That sockets are opened here gives us the errno when it fails, non-blocking
// and close-on-exec from the start, and sends that raise no SIGPIPE.
struct Channel::Calls {
  static Channel& self(void* data) { return *static_cast<Channel*>(data); }

  static int open(int family, int type, int protocol, void* data) {
    const int fd = net::sys::socket(family, type, protocol);
    if (fd < 0) return note_lack(data), -1;
    Channel& channel = self(data);
    channel.sockets_.push_back(std::make_unique<Socket>(channel.owner_, fd, type == SOCK_STREAM));
    return fd;
  }

  // Also puts the socket into the loop: before, a stream would report that it hangs up.
  static int connect(int fd, const sockaddr* address, socklen_t length, void* data) {
    if (net::sys::connect(fd, address, length) != 0 && errno != EINPROGRESS)
      return note_lack(data), -1;
    Socket& socket = *self(data).find(fd);
    if (Result<Done> added = self(data).loop_.add(fd, socket, EPOLLIN); !added) {
      errno = added.error().os_errno;
      return note_lack(data), -1;
    }
    socket.events = EPOLLIN;
    return 0;
  }

  // Told before a socket is closed as well, with nothing wanted: close() sees to that.
  static void want(void* data, int fd, int readable, int writable) {
    Socket* const socket = self(data).find(fd);
    const uint32_t events = (readable ? EPOLLIN : 0u) | (writable ? EPOLLOUT : 0u);
    if (!socket || events == 0 || events == socket->events) return;
    if (!self(data).loop_.change(fd, *socket, events)) return note_lack(data);
    socket->events = events;
  }

  static int close(int fd, void* data) {
    if (Socket* const socket = self(data).find(fd)) {
      if (socket->events != 0) self(data).loop_.remove(fd);
      socket->fd = -1;  // freed by process(): c-ares may have come from reading this very socket
    }
    return ::close(fd);
  }

  // A datagram must stay whole, so it does not go the way of the streams, whose tests shorten
  // reads. One that is no message is dropped here: c-ares 1.34 would give up its socket for it, and
  // with it the true answer.
  static ssize_t receive(int fd, void* buffer, size_t bytes, int flags, sockaddr* from,
                         socklen_t* from_length, void* data) {
    if (self(data).find(fd)->stream)
      return uninterrupted([&] { return net::sys::recv(fd, buffer, bytes); });
    ssize_t received = 0;
    do {
      received = uninterrupted(
          [&] { return ::recvfrom(fd, buffer, bytes, flags | MSG_DONTWAIT, from, from_length); });
    } while (received >= 0 && received < kHeaderBytes);
    return received;
  }

  static ssize_t send(int fd, const iovec* pieces, int count, void* data) {
    msghdr message{};
    message.msg_iov = const_cast<iovec*>(pieces);
    message.msg_iovlen = static_cast<size_t>(count);
    if (self(data).find(fd)->stream)
      return uninterrupted([&] { return net::sys::sendmsg(fd, &message, false); });
    return uninterrupted([&] { return ::sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT); });
  }

  static void answer(void* question, int status, int timeouts, unsigned char* message, int bytes);

  // Only what this host lacks; that a server cannot be reached is the server's failure.
  static void note_lack(void* data) {
    const Errc what = errc_of_errno(errno);
    constexpr Errc kLacks[] = {Errc::out_of_descriptors, Errc::out_of_memory, Errc::out_of_ports,
                               Errc::os_failure};
    if (std::find(std::begin(kLacks), std::end(kLacks), what) != std::end(kLacks))
      self(data).lack_ = what;
  }
};

void Channel::Calls::answer(void* question, int status, int timeouts, unsigned char* message,
                            int bytes) {
  // A copy, for the listener may ask the next question.
  const Question asked = *static_cast<Question*>(question);
  if (asked.channel->closing_) return;
  Outcome outcome;
  outcome.tries_lost = static_cast<unsigned>(timeouts);
  if (status == ARES_SUCCESS) {
    outcome.message = ByteSpan(message, static_cast<size_t>(bytes));
  } else {
    outcome.error = asked.channel->reason_of(status, timeouts);
  }
  asked.listener->learn(outcome);
}

// With every server failing, 1.18 reports ARES_ECONNREFUSED whatever the failure was, also
// SERVFAIL; later versions report ARES_ETIMEOUT also where no server could be reached.
Errc Channel::reason_of(int status, int timeouts) const {
  if (status == ARES_ETIMEOUT && timeouts > 0) return Errc::name_timed_out;
  if (status == ARES_ENOMEM) return Errc::out_of_memory;
  return lack_.value_or(Errc::name_failed);
}

Channel::Socket* Channel::find(int fd) {
  for (const std::unique_ptr<Socket>& socket : sockets_)
    if (socket->fd == fd) return socket.get();
  return nullptr;
}

Result<std::unique_ptr<Channel>> Channel::open(net::Loop& loop, net::Runnable& owner,
                                               std::span<const std::string> servers,
                                               net::Duration try_timeout) {
  static const int library_status = ares_library_init(ARES_LIB_INIT_ALL);
  HEADRACE_ASSERT(library_status == ARES_SUCCESS);
  std::unique_ptr<Channel> channel(new Channel(loop, owner));

  // With all of these given, c-ares reads no file of the system. The server is one in passing: the
  // true ones may be IPv6 or have ports, which this structure cannot say.
  in_addr any_server{};
  any_server.s_addr = htonl(INADDR_LOOPBACK);
  char lookups[] = "b";
  ares_options options{};
  options.flags = 0;  // not EDNS: of two questions in flight, 1.18 repeats only one without it
  options.timeout = static_cast<int>(try_timeout / std::chrono::milliseconds(1));
  options.tries = kRounds;
  options.ndots = 1;
  options.servers = &any_server;
  options.nservers = 1;
  options.lookups = lookups;
  options.sock_state_cb = Calls::want;
  options.sock_state_cb_data = channel.get();
  constexpr int kGiven = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_NDOTS |
                         ARES_OPT_SERVERS | ARES_OPT_DOMAINS | ARES_OPT_LOOKUPS |
                         ARES_OPT_SORTLIST | ARES_OPT_SOCK_STATE_CB | ARES_OPT_NOROTATE;
  if (ares_init_options(&channel->ares_, &options, kGiven) != ARES_SUCCESS)
    return Error{Errc::out_of_memory, Side::local};

  static const ares_socket_functions calls = {Calls::open, Calls::close, Calls::connect,
                                              Calls::receive, Calls::send};
  ares_set_socket_functions(channel->ares_, &calls, channel.get());
  if (!set_servers(channel->ares_, servers)) return Error{Errc::name_failed, Side::local};
  return channel;
}

Channel::Channel(net::Loop& loop, net::Runnable& owner) : loop_(loop), owner_(owner) {}

Channel::~Channel() {
  closing_ = true;
  if (ares_) ares_destroy(ares_);
}

bool Channel::ask(const std::string& name, IpAddress::Family family, Listener& listener) {
  const bool v4 = family == IpAddress::Family::v4;
  unsigned char* message = nullptr;
  int bytes = 0;
  const int status = ares_create_query(name.c_str(), kClassInternet, v4 ? kTypeA : kTypeAaaa,
                                       random_id(), 1, &message, &bytes, 0);
  if (status != ARES_SUCCESS) return false;
  Question& question = questions_[v4 ? 0 : 1];
  question = {this, &listener};
  ares_send(ares_, message, bytes, Calls::answer, &question);
  ares_free_string(message);
  return true;
}

void Channel::process() {
  // c-ares may open sockets in between; those have nothing to say yet.
  for (size_t i = 0, count = sockets_.size(); i < count; ++i) {
    Socket& socket = *sockets_[i];
    const int read_fd = socket.readable() ? socket.fd : ARES_SOCKET_BAD;
    const int write_fd = socket.writable() ? socket.fd : ARES_SOCKET_BAD;
    socket.clear_readable();
    socket.clear_writable();
    if (read_fd >= 0 || write_fd >= 0) ares_process_fd(ares_, read_fd, write_fd);
  }
  ares_process_fd(ares_, ARES_SOCKET_BAD, ARES_SOCKET_BAD);  // the time-outs
  std::erase_if(sockets_, [](const std::unique_ptr<Socket>& socket) { return socket->fd < 0; });
}

std::optional<net::Duration> Channel::next_timeout() const {
  timeval until{};
  if (!ares_timeout(ares_, nullptr, &until)) return std::nullopt;
  return std::chrono::seconds(until.tv_sec) + net::Duration(until.tv_usec);
}

}  // namespace headrace::dns
