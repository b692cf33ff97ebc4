#include "session/dialer.h"

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <algorithm>
#include <cerrno>

#include "net/sys.h"
#include "session/worker.h"

namespace headrace::session {
namespace {

void set_option(int fd, int level, int option) {
  int on = 1;
  setsockopt(fd, level, option, &on, sizeof(on));
}

Error local_error(int os_errno) {
  return Error{errc_of_errno(os_errno), Side::local, os_errno};
}

// What we lack ourselves is no fault of the upstream.
bool is_shortage(Errc what) {
  return what == Errc::out_of_descriptors || what == Errc::out_of_memory ||
         what == Errc::out_of_ports;
}

Error lookup_error(Errc what) {
  bool ours = is_shortage(what) || what == Errc::os_failure;
  return Error{what, ours ? Side::local : Side::upstream};
}

// What went wrong on the way to the upstream. Errors of connect(2) that are no fault of a resource
// of ours count as the upstream's.
Error connect_error(int os_errno) {
  Errc what = errc_of_errno(os_errno);
  bool ours = is_shortage(what);
  if (what == Errc::os_failure || what == Errc::reset) what = Errc::connect_failed;
  return Error{what, ours ? Side::local : Side::upstream, os_errno};
}

// EADDRNOTAVAIL says that no local port is left, or that there is no local address for that
// destination, as where IPv6 is switched off. A datagram socket has ports of its own.
bool has_route(const net::SocketName& name) {
  UniqueFd fd(net::sys::socket(name.family(), SOCK_DGRAM, 0));
  return !fd || ::connect(fd.get(), name.get(), name.length) == 0;
}

}  // namespace

Dialer::Dialer(Worker& worker, net::Runnable& waiting, const DialOptions& options)
    : worker_(worker),
      waiting_(waiting),
      options_(options),
      lookup_(*this),
      limit_(*this),
      pace_(*this) {
  if (options_.target.host.is_name()) {
    worker_.resolver.resolve(options_.target.host.name(), lookup_);
  } else {
    took_v4_ = took_v6_ = true;
    add_addresses({&options_.target.host.address(), 1}, false);
    started_ = true;
    worker_.loop.arm(limit_, options_.timeout);
  }
  run();
}

Dialer::~Dialer() = default;

Result<std::unique_ptr<Upstream>> Dialer::take_result() {
  HEADRACE_ASSERT(finished_);
  if (!connected_) return failure_.value_or(Error{Errc::name_unknown, Side::upstream});
  return std::move(connected_);
}

void Dialer::finish(std::unique_ptr<Upstream> upstream) {
  connected_ = std::move(upstream);
  finished_ = true;
  attempts_.clear();
  limit_.disarm();
  pace_.disarm();
  worker_.loop.make_ready(waiting_);
}

void Dialer::fail(Error error) {
  note_failure(error);
  finish(nullptr);
}

// The last attempt speaks for all, but a refusal by policy or lack of our own means says more.
void Dialer::note_failure(Error error) {
  if (failure_ && failure_->whose == Side::local && error.whose != Side::local) return;
  failure_ = error;
}

void Dialer::run() {
  if (finished_) return;
  if (limit_.expired()) return fail(Error{Errc::connect_timed_out, Side::upstream});
  take_addresses();
  check_attempts();
  if (finished_) return;
  while (!finished_ && may_start_attempt()) start_attempt();
  if (finished_ || !attempts_.empty() || next_ < addresses_.size()) return;
  bool all_known = took_v4_ && took_v6_;
  if (all_known) return fail(failure_.value_or(lookup_error(lookup_.error())));
}

// Addresses as they come in: IPv6 first, the families taking turns (RFC 8305 section 4). The first
// attempt waits a little for IPv6, and not at all for IPv4.
void Dialer::take_addresses() {
  if (lookup_.v6().answered && !took_v6_) {
    took_v6_ = true;
    add_addresses(lookup_.v6().addresses, true);
  }
  if (lookup_.v4().answered && !took_v4_) {
    took_v4_ = true;
    add_addresses(lookup_.v4().addresses, false);
  }
  if (started_ || addresses_.empty()) return;
  bool wait_for_v6 = !took_v6_ && !pace_.expired();
  if (wait_for_v6) {
    if (!pace_.armed()) worker_.loop.arm(pace_, kResolutionDelay);
    return;
  }
  started_ = true;
  pace_.disarm();
  worker_.loop.arm(limit_, options_.timeout);
}

void Dialer::add_addresses(std::span<const IpAddress> addresses, bool first_choice) {
  size_t at = next_ + (first_choice ? 0 : 1);
  for (const IpAddress& address : addresses) {
    access::Verdict verdict = options_.policy.judge(
        {options_.client, options_.user, options_.how, options_.target, address});
    if (!verdict.allowed()) {
      note_failure(Error{*verdict.refusal, Side::local});
      continue;
    }
    addresses_.insert(addresses_.begin() + static_cast<ptrdiff_t>(std::min(at, addresses_.size())),
                      address);
    at += 2;
  }
}

bool Dialer::may_start_attempt() const {
  if (!started_ || next_ >= addresses_.size() || attempts_.size() >= kAttemptsMax) return false;
  return attempts_.empty() || !pace_.armed();
}

void Dialer::start_attempt() {
  net::Endpoint endpoint{addresses_[next_++], options_.target.port};
  Result<std::unique_ptr<Upstream>> opened = open_socket(endpoint);
  if (!opened) return note_failure(opened.error());
  attempts_.push_back(std::move(*opened));
  if (next_ < addresses_.size() || !took_v4_ || !took_v6_) worker_.loop.arm(pace_, kAttemptDelay);
}

Result<std::unique_ptr<Upstream>> Dialer::open_socket(const net::Endpoint& endpoint) {
  net::SocketName name(endpoint);
  UniqueFd fd(net::sys::socket(name.family(), SOCK_STREAM, 0));
  if (!fd) return local_error(errno);
  set_option(fd.get(), IPPROTO_TCP, TCP_NODELAY);
  set_option(fd.get(), SOL_SOCKET, SO_KEEPALIVE);
  set_option(fd.get(), SOL_SOCKET, SO_OOBINLINE);  // an urgent byte is a byte (RFC 6093)
  if (options_.source) {
    net::SocketName source(net::Endpoint{*options_.source, 0});
    set_option(fd.get(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT);
    if (source.family() != name.family()) return Error{Errc::family_unsupported, Side::upstream, 0};
    if (bind(fd.get(), source.get(), source.length) != 0) return connect_error(errno);
  }
  if (net::sys::connect(fd.get(), name.get(), name.length) != 0 && errno != EINPROGRESS) {
    int os_errno = errno;
    if (os_errno == EADDRNOTAVAIL && !has_route(name)) os_errno = ENETUNREACH;
    return connect_error(os_errno);
  }
  auto upstream = std::make_unique<Upstream>(*this);
  upstream->address = endpoint;
  // Registered only now: an unconnected socket would report a hang-up.
  Result<Done> registered = upstream->socket.open(worker_.loop, std::move(fd));
  if (!registered) return registered.error();
  return upstream;
}

void Dialer::check_attempts() {
  for (std::unique_ptr<Upstream>& attempt : attempts_) {
    if (!attempt->socket.writable()) continue;
    if (!attempt->socket.faulty()) return finish(std::move(attempt));
    int os_errno = 0;
    socklen_t length = sizeof(os_errno);
    getsockopt(attempt->socket.fd(), SOL_SOCKET, SO_ERROR, &os_errno, &length);
    note_failure(connect_error(os_errno));
    attempt.reset();
  }
  std::erase(attempts_, nullptr);
}

}  // namespace headrace::session
