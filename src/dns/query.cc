#include "dns/query.h"

#include <algorithm>

#include "dns/reply.h"

namespace headrace::dns {
namespace {

Answer failure(Errc what) {
  // What this host lacks is asked for again at once: it may have been given back by then.
  const bool of_the_server = what == Errc::name_failed || what == Errc::name_timed_out;
  return {{}, what, of_the_server ? Query::kFailureTtl : net::Duration(0)};
}

Answer unknown(std::optional<uint32_t> ttl_seconds) {
  if (!ttl_seconds) return {{}, Errc::name_unknown, Query::kFailureTtl};
  const net::Duration ttl = std::chrono::seconds(*ttl_seconds);
  return {{}, Errc::name_unknown, std::min(ttl, Query::kNegativeTtlMax)};
}

Answer known(Reply reply) {
  const net::Duration ttl = std::chrono::seconds(reply.ttl_seconds.value_or(0));
  return {std::move(reply.addresses), std::nullopt,
          std::clamp(ttl, Query::kTtlMin, Query::kTtlMax)};
}

}  // namespace

Query::Query(net::Loop& loop, Owner& owner, void* key, std::vector<std::string> candidates,
             net::Duration timeout)
    : loop_(loop),
      owner_(owner),
      key_(key),
      candidates_(std::move(candidates)),
      timeout_(timeout),
      deadline_(loop.now() + timeout),
      timer_(*this) {
  loop_.arm_at(timer_, deadline_);
}

void Query::start(std::vector<std::string> servers, size_t first_server) {
  started_ = true;
  first_server_ = first_server;
  std::rotate(servers.begin(), servers.begin() + static_cast<ptrdiff_t>(first_server),
              servers.end());
  // So that a short limit leaves time for more than one server.
  constexpr net::Duration kTryTimeoutMin = std::chrono::milliseconds(1);
  const net::Duration try_timeout = std::clamp(timeout_ / 4, kTryTimeoutMin, Channel::kTryTimeout);
  auto opened = Channel::open(loop_, *this, servers, try_timeout);
  if (!opened) return fail(opened.error().what);
  channel_ = std::move(*opened);
  // AAAA first: where both answers come at the same time, it is the one that the dialer waits for.
  if (v6_.open) v6_.ask();
  if (v4_.open) v4_.ask();
  arm();
}

void Query::run() {
  timer_.disarm();
  if (channel_ && !done()) channel_->process();
  if (loop_.now() >= deadline_) fail(Errc::name_timed_out);
  if (done()) return owner_.finished(*this);  // that was the end of us
  arm();
}

void Query::arm() {
  net::Instant when = deadline_;
  if (channel_)
    if (const std::optional<net::Duration> next = channel_->next_timeout())
      when = std::min(when, loop_.now() + *next);
  loop_.arm_at(timer_, when);
}

void Query::fail(Errc what) {
  if (v4_.open) v4_.close(failure(what));
  if (v6_.open) v6_.close(failure(what));
}

void Query::Question::ask() {
  ++query.questions_;
  // What cannot be asked for does not exist (RFC 7686 for .onion).
  if (!query.channel_->ask(query.candidates_[candidate], family, *this))
    close(unknown(std::nullopt));
}

void Query::Question::learn(const Channel::Outcome& outcome) {
  if (!open) return;
  if (outcome.error) return close(failure(*outcome.error));
  std::optional<Reply> reply = parse_reply(outcome.message, family);
  if (!reply) return close(failure(Errc::name_failed));
  query.tries_lost_ = std::max(query.tries_lost_, outcome.tries_lost);
  switch (reply->kind) {
    case Reply::Kind::addresses:
      return close(known(std::move(*reply)));
    case Reply::Kind::no_address:
      return close(unknown(reply->ttl_seconds));
    case Reply::Kind::failure:
      return close(failure(Errc::name_failed));
    case Reply::Kind::no_name:
      break;
  }
  // Only a name that does not exist is looked for in the next domain. After a failure another name
  // would be a guess, and a name without an address of this family has one of the other.
  if (++candidate == query.candidates_.size()) return close(unknown(reply->ttl_seconds));
  ask();
}

void Query::Question::close(Answer answer) {
  open = false;
  query.owner_.answered(query, family, std::move(answer));
}

}  // namespace headrace::dns
