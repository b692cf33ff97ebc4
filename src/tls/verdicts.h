// Certificate chains that were found good, so that the next connection to a destination need not
// look at the same chain again: signatures of a chain are most of what a client's full handshake
// costs. Only good verdicts are kept, each under what it depends on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>

namespace headrace::tls {

class Verdicts {
 public:
  // SHA-256 of the chain as it was sent and the name that was asked for.
  using Key = std::array<uint8_t, 32>;
  // Seconds since 1970, as certificates count.
  using Time = int64_t;

  // A chain is looked at again after so long, for what a look may find out besides its end.
  static constexpr Time kAgeMax = 3600;
  // Beyond, the oldest goes.
  static constexpr size_t kCountMax = 64;

  // Whether the chain was found good and still is, at `now`. A clock that was set back says no.
  bool has(const Key& key, Time now) const;
  // Found good at `now`; `ends` is when the first of its certificates does.
  void keep(const Key& key, Time now, Time ends);

  size_t size() const { return good_.size(); }

 private:
  struct Good {
    Time found;
    Time ends;
  };
  std::map<Key, Good> good_;
  std::deque<Key> oldest_first_;  // of good_, each once
};

}  // namespace headrace::tls
