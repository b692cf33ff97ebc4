#include "dns/cache.h"

#include <gtest/gtest.h>

namespace headrace::dns {
namespace {

struct NobodyOwner final : Query::Owner {
  void answered(Query&, IpAddress::Family, Answer) override {}
  void finished(Query&) override {}
};

class CacheTest : public testing::Test {
 protected:
  void give_query(Entry& entry) {
    entry.query = std::make_unique<Query>(
        *loop, owner, nullptr, std::vector<std::string>{*entry.name}, std::chrono::seconds(5));
    cache.touch(entry);
  }
  // Whether what was noted of the name is still known.
  bool remembers(const std::string& name) { return cache.get(name).v4.until != net::Instant(); }
  Entry& note(const std::string& name) {
    Entry& entry = cache.get(name);
    entry.v4.until = net::Instant(std::chrono::seconds(1));
    return entry;
  }

  net::ManualClock clock;
  std::unique_ptr<net::Loop> loop = std::move(net::Loop::create(clock)).value();
  NobodyOwner owner;
  Cache cache{3};
};

TEST_F(CacheTest, the_name_least_recently_asked_for_makes_room) {
  note("a");
  note("b");
  note("c");
  EXPECT_TRUE(remembers("a"));
  note("d");
  EXPECT_EQ(cache.size(), 3u);
  EXPECT_EQ(cache.evicted(), 1u);
  EXPECT_TRUE(remembers("a"));
  EXPECT_TRUE(remembers("c"));
  EXPECT_TRUE(remembers("d"));
  EXPECT_FALSE(remembers("b"));
}

TEST_F(CacheTest, a_name_with_a_query_is_not_put_out) {
  give_query(note("a"));
  note("b");
  note("c");
  note("d");
  EXPECT_TRUE(remembers("a"));
  Entry& a = cache.get("a");
  a.query.reset();
  cache.touch(a);
  note("e");
  note("f");
  note("g");
  EXPECT_FALSE(remembers("a"));
}

TEST_F(CacheTest, names_that_all_have_queries_may_exceed_it) {
  for (const char* name : {"a", "b", "c", "d"}) give_query(note(name));
  EXPECT_EQ(cache.size(), 4u);
  for (const char* name : {"a", "b", "c", "d"}) {
    Entry& entry = cache.get(name);
    entry.query.reset();
    cache.touch(entry);
  }
  note("e");
  EXPECT_EQ(cache.size(), 3u);
}

}  // namespace
}  // namespace headrace::dns
