// Names to addresses on the worker's loop, by c-ares, with a cache of our own.
//
// One Resolver per worker. A Lookup belongs to whoever asks; it is answered at once from the cache or
// /etc/hosts, or later by making its owner ready. Destroying a Lookup cancels it. Several lookups
// of one name in flight share one query.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/ip.h"
#include "base/list.h"
#include "base/result.h"
#include "dns/options.h"
#include "net/loop.h"

namespace headrace::dns {

struct LookupTag;
class Question;

// A and AAAA are asked together but answered apart, so that a caller need not wait for the slower one
// (RFC 8305 section 3).
class Lookup : public Linked<LookupTag> {
 public:
  explicit Lookup(net::Runnable& owner) : owner_(owner) {}

  struct Family {
    bool answered = false;
    std::vector<IpAddress> addresses;
    std::optional<Errc> error;  // name_unknown, name_timed_out, name_failed, out_of_descriptors
  };
  const Family& v4() const { return v4_; }
  const Family& v6() const { return v6_; }
  bool finished() const { return v4_.answered && v6_.answered; }
  // Why there is no address at all, once finished and neither family has one.
  Errc error() const;

 private:
  friend class Resolver;
  net::Runnable& owner_;
  Family v4_;
  Family v6_;
};

struct Stats {
  uint64_t queries = 0;
  uint64_t cache_hits = 0;
  uint64_t failures = 0;
};

class Resolver {
 public:
  // Addresses kept per name; a longer answer is cut.
  static constexpr size_t kAddressesMax = 64;
  // Names kept; beyond, the ones least recently asked for go.
  static constexpr size_t kCacheNamesMax = 10'000;
  static constexpr net::Duration kTtlMin = std::chrono::seconds(1);
  static constexpr net::Duration kTtlMax = std::chrono::hours(1);
  static constexpr net::Duration kNegativeTtl = std::chrono::seconds(5);

  static Result<std::unique_ptr<Resolver>> create(net::Loop& loop, const Options& options);
  ~Resolver();

  // `name` in lower case and without a trailing dot (base/target.h).
  void resolve(const std::string& name, Lookup& lookup);
  const Stats& stats() const;

 private:
  class Impl;
  explicit Resolver(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace headrace::dns
