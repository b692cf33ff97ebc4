#include "dns/cache.h"

namespace headrace::dns {

Entry& Cache::get(const std::string& name) {
  if (const auto found = entries_.find(name); found != entries_.end()) {
    touch(found->second);
    return found->second;
  }
  while (entries_.size() >= names_max_ && !idle_.empty()) {
    entries_.erase(*idle_.front().name);
    ++evicted_;
  }
  const auto made = entries_.try_emplace(name).first;
  made->second.name = &made->first;
  touch(made->second);
  return made->second;
}

void Cache::touch(Entry& entry) {
  List<Entry, AgeTag>::remove(entry);
  if (!entry.query) idle_.push_back(entry);
}

}  // namespace headrace::dns
