#include "tls/verdicts.h"

#include <algorithm>

namespace headrace::tls {

bool Verdicts::has(const Key& key, Time now) const {
  const auto found = good_.find(key);
  if (found == good_.end()) return false;
  const Good& good = found->second;
  return now >= good.found && now < std::min(good.ends, good.found + kAgeMax);
}

void Verdicts::keep(const Key& key, Time now, Time ends) {
  const bool is_new = good_.insert_or_assign(key, Good{now, ends}).second;
  if (!is_new) std::erase(oldest_first_, key);
  oldest_first_.push_back(key);
  if (oldest_first_.size() <= kCountMax) return;
  good_.erase(oldest_first_.front());
  oldest_first_.pop_front();
}

}  // namespace headrace::tls
