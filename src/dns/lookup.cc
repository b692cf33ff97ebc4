#include "dns/lookup.h"

namespace headrace::dns {
namespace {

// What weighs more when the families failed in different ways: our own lack first, for the operator
// can mend it.
int weight(Errc what) {
  switch (what) {
    case Errc::name_unknown:
      return 0;
    case Errc::name_failed:
      return 1;
    case Errc::name_timed_out:
      return 2;
    default:
      return 3;
  }
}

}  // namespace

Errc Lookup::error() const {
  const Errc four = v4_.error.value_or(Errc::name_unknown);
  const Errc six = v6_.error.value_or(Errc::name_unknown);
  return weight(six) > weight(four) ? six : four;
}

}  // namespace headrace::dns
