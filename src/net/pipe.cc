#include "net/pipe.h"

#include <fcntl.h>

#include "net/sys.h"

namespace headrace::net {
namespace {

// What the kernel made of the wish.
uint32_t resize(int fd, size_t bytes) {
  if (fcntl(fd, F_SETPIPE_SZ, static_cast<int>(bytes)) < 0) {
    int actual = fcntl(fd, F_GETPIPE_SZ);
    return actual < 0 ? 0 : static_cast<uint32_t>(actual);
  }
  return static_cast<uint32_t>(bytes);
}

}  // namespace

std::unique_ptr<Pipe> PipePool::create() {
  int fds[2];
  if (sys::pipe(fds) != 0) return nullptr;
  auto pipe = std::make_unique<Pipe>();
  pipe->read_end = UniqueFd(fds[0]);
  pipe->write_end = UniqueFd(fds[1]);
  int fd = pipe->write_end.get();
  if (big_ < kBigMax) pipe->capacity_bytes = resize(fd, kBigBytes);
  if (pipe->capacity_bytes < kMiddleBytes && middle_ < kMiddleMax)
    pipe->capacity_bytes = resize(fd, kMiddleBytes);
  if (pipe->capacity_bytes < kSmallBytes) pipe->capacity_bytes = resize(fd, kSmallBytes);
  if (pipe->capacity_bytes < kSmallBytes) return nullptr;
  if (pipe->capacity_bytes >= kBigBytes)
    ++big_;
  else if (pipe->capacity_bytes >= kMiddleBytes)
    ++middle_;
  ++stats_.created;
  return pipe;
}

std::unique_ptr<Pipe> PipePool::lease() {
  std::unique_ptr<Pipe> pipe;
  if (!idle_.empty()) {
    pipe = std::move(idle_.back());
    idle_.pop_back();
  } else if (leased_ < kLeasedMax) {
    pipe = create();
  }
  if (pipe)
    ++leased_;
  else
    ++stats_.refused;
  return pipe;
}

void PipePool::give_back(std::unique_ptr<Pipe> pipe) {
  --leased_;
  if (pipe->empty() && idle_.size() < kIdleMax) {
    idle_.push_back(std::move(pipe));
    return;
  }
  if (pipe->capacity_bytes >= kBigBytes)
    --big_;
  else if (pipe->capacity_bytes >= kMiddleBytes)
    --middle_;
}

}  // namespace headrace::net
