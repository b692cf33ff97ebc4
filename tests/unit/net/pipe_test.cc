#include "net/pipe.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <memory>
#include <vector>

namespace headrace::net {
namespace {

using Leases = std::vector<std::unique_ptr<Pipe>>;

// Lowers the number of descriptors that the process may open, for a while.
class DescriptorLimit {
 public:
  explicit DescriptorLimit(rlim_t limit) {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    const rlimit lowered{limit, before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &lowered), 0);
  }
  ~DescriptorLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST(pipe_pool, a_leased_pipe_carries_bytes_and_knows_its_capacity) {
  PipePool pool;
  std::unique_ptr<Pipe> pipe = pool.lease();
  ASSERT_TRUE(pipe);
  EXPECT_EQ(::write(pipe->write_end.get(), "x", 1), 1);
  char byte = 0;
  EXPECT_EQ(::read(pipe->read_end.get(), &byte, 1), 1);
  EXPECT_EQ(byte, 'x');
  EXPECT_EQ(::fcntl(pipe->write_end.get(), F_GETPIPE_SZ), static_cast<int>(pipe->capacity_bytes));
  EXPECT_GE(pipe->capacity_bytes, PipePool::kSmallBytes);
  for (const int fd : {pipe->read_end.get(), pipe->write_end.get()}) {
    EXPECT_TRUE(::fcntl(fd, F_GETFL) & O_NONBLOCK);
    EXPECT_TRUE(::fcntl(fd, F_GETFD) & FD_CLOEXEC);
  }
  pool.give_back(std::move(pipe));
}

TEST(pipe_pool, the_pipe_given_back_last_is_leased_first) {
  PipePool pool;
  std::unique_ptr<Pipe> first = pool.lease();
  std::unique_ptr<Pipe> second = pool.lease();
  Pipe* const last = second.get();
  pool.give_back(std::move(first));
  pool.give_back(std::move(second));
  EXPECT_EQ(pool.idle(), 2u);
  EXPECT_EQ(pool.lease().get(), last);
  EXPECT_EQ(pool.stats().created, 2u);
}

TEST(pipe_pool, a_pipe_with_bytes_inside_is_not_given_to_the_next) {
  PipePool pool;
  std::unique_ptr<Pipe> pipe = pool.lease();
  ASSERT_EQ(::write(pipe->write_end.get(), "secret", 6), 6);
  pipe->bytes = 6;
  pool.give_back(std::move(pipe));
  EXPECT_EQ(pool.idle(), 0u);
  EXPECT_EQ(pool.leased(), 0u);
  pipe = pool.lease();
  char byte;
  EXPECT_EQ(::read(pipe->read_end.get(), &byte, 1), -1);
  pool.give_back(std::move(pipe));
}

TEST(pipe_pool, few_stay_when_many_were_needed) {
  PipePool pool;
  Leases leases;
  for (int i = 0; i < 20; ++i) leases.push_back(pool.lease());
  EXPECT_EQ(pool.leased(), 20u);
  for (auto& lease : leases) pool.give_back(std::move(lease));
  EXPECT_EQ(pool.leased(), 0u);
  EXPECT_EQ(pool.idle(), PipePool::kIdleMax);
}

TEST(pipe_pool, the_first_are_big_and_later_ones_smaller) {
  PipePool pool;
  Leases leases;
  size_t big = 0;
  size_t middle = 0;
  for (size_t i = 0; i < PipePool::kBigMax + PipePool::kMiddleMax + 2; ++i) {
    leases.push_back(pool.lease());
    ASSERT_TRUE(leases.back());
    const size_t capacity_bytes = leases.back()->capacity_bytes;
    if (capacity_bytes >= PipePool::kBigBytes)
      ++big;
    else if (capacity_bytes >= PipePool::kMiddleBytes)
      ++middle;
  }
  // Fewer where the kernel's limit for this user comes first.
  EXPECT_LE(big, PipePool::kBigMax);
  EXPECT_LE(middle, PipePool::kMiddleMax);
  EXPECT_EQ(leases.back()->capacity_bytes, PipePool::kSmallBytes);
  for (auto& lease : leases) pool.give_back(std::move(lease));
}

TEST(pipe_pool, big_pipes_that_are_gone_make_room_for_others) {
  PipePool pool;
  for (int round = 0; round < 3; ++round) {
    Leases leases;
    for (size_t i = 0; i < PipePool::kBigMax; ++i) leases.push_back(pool.lease());
    const size_t expected_bytes = leases.front()->capacity_bytes;
    EXPECT_EQ(leases.back()->capacity_bytes, expected_bytes) << round;
    for (auto& lease : leases) pool.give_back(std::move(lease));
  }
}

TEST(pipe_pool, without_descriptors_there_is_no_lease_and_a_counter_tells) {
  PipePool pool;
  Leases leases;
  {
    const DescriptorLimit limit(64);
    while (auto lease = pool.lease()) leases.push_back(std::move(lease));
    EXPECT_GT(leases.size(), 0u);
    EXPECT_LT(leases.size(), 32u);
    EXPECT_EQ(pool.stats().refused, 1u);
    EXPECT_EQ(pool.leased(), leases.size());

    pool.give_back(std::move(leases.back()));
    leases.pop_back();
    leases.push_back(pool.lease());
    EXPECT_TRUE(leases.back());
  }
  for (auto& lease : leases) pool.give_back(std::move(lease));
  EXPECT_EQ(pool.leased(), 0u);
}

TEST(pipe_pool, no_more_are_lent_than_its_limit) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_GE(before.rlim_max, 2 * PipePool::kLeasedMax + 64);
  const DescriptorLimit limit(before.rlim_max);
  PipePool pool;
  Leases leases;
  while (auto lease = pool.lease()) leases.push_back(std::move(lease));
  // Without privileges the kernel's page limit may come first; then pipes are too small to be lent.
  EXPECT_LE(leases.size(), PipePool::kLeasedMax);
  if (::geteuid() == 0) {
    EXPECT_EQ(leases.size(), PipePool::kLeasedMax);
  }
  EXPECT_EQ(pool.stats().refused, 1u);
  for (auto& lease : leases) pool.give_back(std::move(lease));
}

}  // namespace
}  // namespace headrace::net
