// Names to addresses on the worker's loop, by c-ares, with a cache of our own.
//
// One Resolver per worker, used by its thread only; it may be destroyed with lookups open, which
// then stay unanswered. /etc/hosts comes first; /etc/hosts and /etc/resolv.conf are read again when
// they change. Several lookups of one name share its questions; an answer that nobody waits for any
// more still goes to the cache.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/result.h"
#include "dns/lookup.h"
#include "dns/options.h"
#include "dns/stats.h"
#include "net/loop.h"

namespace headrace::dns {

class Resolver {
 public:
  // Names kept; beyond, the ones least recently asked for go.
  static constexpr size_t kCacheNamesMax = 10'000;
  // Names asked for at the same time, each with a socket or two and, with c-ares 1.18, 75 KB. More
  // wait their turn, within the same limit of time; there are never more than sessions that wait.
  static constexpr size_t kNamesInFlightMax = 512;

  // Fails with Errc::malformed where options.servers is.
  static Result<std::unique_ptr<Resolver>> create(net::Loop& loop, const Options& options);
  ~Resolver();

  // `name` in lower case and without a trailing dot (base/target.h). What is known already is in
  // the lookup when this returns; the rest comes by making its owner ready.
  void resolve(const std::string& name, Lookup& lookup);
  const Stats& stats() const;

 private:
  class Impl;
  explicit Resolver(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace headrace::dns
