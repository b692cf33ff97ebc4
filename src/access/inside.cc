#include "access/inside.h"

namespace headrace::access {

Reach reach_of(const IpAddress& destination) {
  const IpAddress meant = destination.unwrapped();
  // Unspecified is inside because a connect(2) to 0.0.0.0 or :: reaches loopback on Linux.
  if (meant.is_loopback() || meant.is_link_local() || meant.is_unspecified() ||
      meant.is_multicast())
    return Reach::inside;
  return meant.is_private() ? Reach::private_range : Reach::outside;
}

}  // namespace headrace::access
