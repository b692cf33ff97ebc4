#include "relay.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <utility>

namespace headrace::reference {
namespace {

constexpr int kEventsMax = 512;
// Of one way before the other pairs get their turn.
constexpr int kRoundsMax = 4;
// Bulk by the same rule as the program's: so large, so often in a row.
constexpr size_t kLargeBytes = 16 * 1024;
constexpr int kLargeToSplice = 2;
constexpr int kSmallToCopy = 3;
constexpr int kPipeBytes = 1024 * 1024;

}  // namespace

Relay::Relay(const load::Address& upstream, Bulk bulk)
    : upstream_(upstream),
      bulk_(bulk),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      buffer_(kBufferBytes) {}

int Relay::run(const load::Address& at) {
  load::Address bound;
  listening_.fd = load::listen_on(at, bound);
  if (!epoll_ || !listening_.fd) {
    std::perror("headrace-reference");
    return 1;
  }
  add(listening_);
  std::fprintf(stderr, "listening %s\n", bound.text().c_str());
  std::array<epoll_event, kEventsMax> events;
  std::vector<Pair*> running;
  for (;;) {
    const int count =
        ::epoll_wait(epoll_.get(), events.data(), kEventsMax, queue_.empty() ? -1 : 0);
    for (int i = 0; i < count; ++i) {
      End& end = *static_cast<End*>(events[i].data.ptr);
      constexpr uint32_t kOver = EPOLLHUP | EPOLLERR;
      end.readable |= (events[i].events & (EPOLLIN | EPOLLRDHUP | kOver)) != 0;
      end.writable |= (events[i].events & (EPOLLOUT | kOver)) != 0;
      end.hung_up |= (events[i].events & (EPOLLRDHUP | kOver)) != 0;
      if (end.pair != nullptr)
        queue(*end.pair);
      else
        accept_all();
    }
    running.swap(queue_);
    for (Pair* pair : running) pump(*pair);
    running.clear();
    gone_.clear();
  }
}

void Relay::add(End& end) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.ptr = &end;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, end.fd.get(), &event);
}

void Relay::accept_all() {
  for (;;) {
    load::UniqueFd client(
        ::accept4(listening_.fd.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!client) return;
    load::UniqueFd upstream = load::start_connect(upstream_, nullptr);
    if (!upstream) continue;
    auto* pair = new Pair;  // close() ends it
    pair->client = {std::move(client), pair};
    pair->upstream = {std::move(upstream), pair};
    add(pair->client);
    add(pair->upstream);
  }
}

void Relay::queue(Pair& pair) {
  if (!std::exchange(pair.queued, true)) queue_.push_back(&pair);
}

void Relay::pump(Pair& pair) {
  pair.queued = false;
  const Outcome up = pump(pair.up);
  const Outcome down = pump(pair.down);
  const bool over = pair.up.ended && pair.down.ended;
  if (over || up == Outcome::failed || down == Outcome::failed) return close(pair);
  if (up == Outcome::moved || down == Outcome::moved) queue(pair);
}

Relay::Outcome Relay::pump(Way& way) {
  if (way.ended || !way.to.writable) return Outcome::blocked;
  if (const Outcome drained = drain(way); drained != Outcome::moved) return drained;
  for (int round = 0; round < kRoundsMax; ++round) {
    if (!way.from.readable) return Outcome::blocked;
    const Outcome outcome = way.splices ? splice(way) : copy(way);
    if (outcome != Outcome::moved) return outcome;
  }
  return Outcome::moved;
}

void Relay::note_size(Way& way, size_t bytes) {
  const bool for_change = (bytes >= kLargeBytes) != way.splices;
  way.streak = for_change ? way.streak + 1 : 0;
  if (way.streak < (way.splices ? kSmallToCopy : kLargeToSplice)) return;
  way.splices = bulk_ == Bulk::splice && !way.splices;
  way.streak = 0;
}

// Sends what is kept.
Relay::Outcome Relay::drain(Way& way) {
  while (!way.rest.empty() || (way.pipe && way.pipe->bytes > 0)) {
    ssize_t sent;
    if (!way.rest.empty()) {
      sent = ::send(way.to.fd.get(), way.rest.data(), way.rest.size(), MSG_NOSIGNAL);
      if (sent > 0) way.rest.erase(0, static_cast<size_t>(sent));
    } else {
      sent = ::splice(way.pipe->read_end.get(), nullptr, way.to.fd.get(), nullptr, way.pipe->bytes,
                      SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
      if (sent > 0) way.pipe->bytes -= static_cast<size_t>(sent);
    }
    if (sent >= 0) continue;
    if (errno != EAGAIN) return Outcome::failed;
    way.to.writable = false;
    return Outcome::blocked;
  }
  if (way.pipe) pipes_.push_back(std::move(way.pipe));
  return Outcome::moved;
}

Relay::Outcome Relay::copy(Way& way) {
  const ssize_t received = ::recv(way.from.fd.get(), buffer_.data(), buffer_.size(), 0);
  if (received < 0) {
    way.from.readable = false;
    return errno == EAGAIN ? Outcome::blocked : Outcome::failed;
  }
  if (received == 0) {
    ::shutdown(way.to.fd.get(), SHUT_WR);
    way.ended = true;
    return Outcome::blocked;
  }
  const auto bytes = static_cast<size_t>(received);
  // A short read has emptied the socket; an end that is known of is still to be seen.
  if (bytes < buffer_.size() && !way.from.hung_up) way.from.readable = false;
  ssize_t sent = ::send(way.to.fd.get(), buffer_.data(), bytes, MSG_NOSIGNAL);
  if (sent < 0 && errno != EAGAIN) return Outcome::failed;
  const size_t taken = sent < 0 ? 0 : static_cast<size_t>(sent);
  if (taken < bytes) {
    way.rest.assign(buffer_.data() + taken, bytes - taken);
    way.to.writable = false;
    return Outcome::blocked;
  }
  note_size(way, bytes);
  return Outcome::moved;
}

Relay::Outcome Relay::splice(Way& way) {
  way.pipe = take_pipe();
  if (!way.pipe) return copy(way);
  const ssize_t received = ::splice(way.from.fd.get(), nullptr, way.pipe->write_end.get(), nullptr,
                                    kPipeBytes, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
  const int fault = errno;
  if (received > 0) {
    way.pipe->bytes = static_cast<size_t>(received);
    note_size(way, way.pipe->bytes);
    return drain(way);
  }
  pipes_.push_back(std::move(way.pipe));
  if (received == 0) return copy(way);  // which sees the end
  way.from.readable = false;
  return fault == EAGAIN ? Outcome::blocked : Outcome::failed;
}

std::unique_ptr<Pipe> Relay::take_pipe() {
  if (!pipes_.empty()) {
    std::unique_ptr<Pipe> pipe = std::move(pipes_.back());
    pipes_.pop_back();
    return pipe;
  }
  int fds[2];
  if (::pipe2(fds, O_NONBLOCK | O_CLOEXEC) != 0) return nullptr;
  ::fcntl(fds[1], F_SETPIPE_SZ, kPipeBytes);  // a smaller one works as well
  return std::make_unique<Pipe>(Pipe{load::UniqueFd(fds[0]), load::UniqueFd(fds[1])});
}

void Relay::close(Pair& pair) {
  pair.client.fd.close();
  pair.upstream.fd.close();
  gone_.emplace_back(&pair);
}

}  // namespace headrace::reference
