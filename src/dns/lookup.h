// One wish to know the addresses of a name. It belongs to whoever asks; destroying it cancels it.
#pragma once

#include <optional>
#include <vector>

#include "base/error.h"
#include "base/ip.h"
#include "base/list.h"
#include "net/loop.h"

namespace headrace::dns {

struct LookupTag;

// A and AAAA are asked together but answered apart, so that a caller need not wait for the slower
// one (RFC 8305 section 3). The owner is made ready when a family is answered.
class Lookup : public Linked<LookupTag> {
 public:
  explicit Lookup(net::Runnable& owner) : owner_(owner) {}

  struct Family {
    bool answered = false;
    std::vector<IpAddress> addresses;
    // Why there is none: name_unknown (also: it has no address of this family), name_timed_out,
    // name_failed; or what this host lacked: out_of_descriptors, out_of_memory, out_of_ports,
    // os_failure.
    std::optional<Errc> error;
  };
  const Family& v4() const { return v4_; }
  const Family& v6() const { return v6_; }
  bool finished() const { return v4_.answered && v6_.answered; }
  // Why there is no address at all, once finished and neither family has one: that the name is
  // unknown can only be said where both families said so.
  Errc error() const;

 private:
  friend class Resolver;
  Family& of(IpAddress::Family family) { return family == IpAddress::Family::v4 ? v4_ : v6_; }

  net::Runnable& owner_;
  Family v4_;
  Family v6_;
};

}  // namespace headrace::dns
