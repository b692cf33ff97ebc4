// What is known of names, bounded in number; and who waits to learn more of them.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "base/list.h"
#include "dns/lookup.h"
#include "dns/query.h"
#include "net/clock.h"

namespace headrace::dns {

struct AgeTag;

struct Entry : Linked<AgeTag> {
  struct Known {
    Answer answer;
    net::Instant until{};
  };
  Known& of(IpAddress::Family family) { return family == IpAddress::Family::v4 ? v4 : v6; }

  const std::string* name = nullptr;  // the key
  Known v4;
  Known v6;
  std::unique_ptr<Query> query;  // while it is in flight, or waits for that
  List<Lookup, LookupTag> lookups;
};

class Cache {
 public:
  explicit Cache(size_t names_max) : names_max_(names_max) {}

  // The entry of a name, made where there is none; the names least recently asked for make room,
  // except those that a query is at work on.
  Entry& get(const std::string& name);
  // To be called when the entry's query was taken or given up.
  void touch(Entry& entry);
  size_t size() const { return entries_.size(); }
  uint64_t evicted() const { return evicted_; }

 private:
  size_t names_max_;
  uint64_t evicted_ = 0;
  List<Entry, AgeTag> idle_;  // least recently asked for first; without those that have a query
  std::unordered_map<std::string, Entry> entries_;
};

}  // namespace headrace::dns
