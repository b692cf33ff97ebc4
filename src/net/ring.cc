#include "net/ring.h"

#include <liburing.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "base/check.h"
#include "net/loop.h"
#include "net/sys.h"

namespace headrace::net {
namespace {

constexpr unsigned kEntries = 512;
// Completions that one turn may find; the kernel keeps more of them for the next.
constexpr unsigned kCompletions = 4096;
constexpr uint16_t kGroup = 0;

// What an entry was for, where it was no arrival.
constexpr uint64_t kEpoll = 1;
constexpr uint64_t kCancel = 2;
// Of departures: the index above these bits, which in an arrival's address are zero.
constexpr uint64_t kDeparture = 3;
constexpr unsigned kKindBits = 2;
constexpr uint64_t kKindMask = (1u << kKindBits) - 1;
// So many that their completions always find room.
constexpr size_t kDeparturesMax = 1024;

// Nothing was received, but something may be there: recv(2) will tell.
bool says_nothing(int result) {
  return result == -ENOBUFS || result == -ECANCELED || result == -EINTR || result == -EAGAIN;
}

// A signal, a lack of memory, or too many completions waiting: another try will do.
bool passes(int result) {
  return result == -EINTR || result == -EAGAIN || result == -EBUSY || result == -ENOMEM;
}

}  // namespace

Ring::Ring(Loop& loop, int epoll_fd) : loop_(loop), epoll_fd_(epoll_fd) {}

Result<std::unique_ptr<Ring>> Ring::create(Loop& loop, int epoll_fd) {
  std::unique_ptr<Ring> ring(new Ring(loop, epoll_fd));
  Result<Done> opened = ring->open();
  if (!opened) return opened.error();
  return ring;
}

// Disabled at first: it will belong to the thread that turns the loop, which may be another than
// this one.
Result<Done> Ring::open() {
  auto ring = std::make_unique<io_uring>();
  io_uring_params params{};
  params.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_R_DISABLED |
                 IORING_SETUP_SUBMIT_ALL | IORING_SETUP_CQSIZE;
  params.cq_entries = kCompletions;
  auto failure = [](int result) { return Error{errc_of_errno(-result), Side::local, -result}; };
  int result = io_uring_queue_init_params(kEntries, ring.get(), &params);
  if (result != 0) return failure(result);
  ring_ = std::move(ring);

  buffers_ = std::make_unique_for_overwrite<uint8_t[]>(kBuffers * kBufferBytes);
  constexpr size_t kPageBytes = 4096;
  void* memory = std::aligned_alloc(kPageBytes, kPageBytes);
  static_assert(kBuffers * sizeof(io_uring_buf) <= kPageBytes);
  HEADRACE_ASSERT(memory);
  free_buffers_ = static_cast<io_uring_buf_ring*>(memory);
  io_uring_buf_reg registration{};
  registration.ring_addr = reinterpret_cast<uintptr_t>(memory);
  registration.ring_entries = kBuffers;
  registration.bgid = kGroup;
  result = io_uring_register_buf_ring(ring_.get(), &registration, 0);
  if (result != 0) return failure(result);
  io_uring_buf_ring_init(free_buffers_);
  for (unsigned i = 0; i < kBuffers; ++i) give_back(static_cast<uint16_t>(i));
  return Done{};
}

Ring::~Ring() {
  if (!ring_) return;
  // Closed sockets stay open in the kernel while a receive is under way; and each arrival is freed
  // by its completion.
  for (Arrival* arrival : wanted_)
    if (!arrival->watch) delete arrival;
  wanted_.clear();
  unwanted_.clear();
  if (in_flight_ > 0) {
    io_uring_sqe& entry = next_entry();
    io_uring_prep_cancel64(&entry, 0, IORING_ASYNC_CANCEL_ANY);
    io_uring_sqe_set_data64(&entry, kCancel);
    constexpr int kLookAgainMilliseconds = 10;
    while (in_flight_ > 0) turn(kLookAgainMilliseconds);
  }
  io_uring_queue_exit(ring_.get());
  std::free(free_buffers_);
}

void Ring::enable() {
  enabled_ = true;
  // io_uring_enable_rings() is declared by liburing 2.3, and missing in its shared library.
  const int result = io_uring_register(ring_->ring_fd, IORING_REGISTER_ENABLE_RINGS, nullptr, 0);
  HEADRACE_ASSERT(result == 0);
  // Spares a look-up of the descriptor in each call; a limit of the kernel's may forbid it.
  (void)io_uring_register_ring_fd(ring_.get());
}

void Ring::receive(Arrival& arrival) {
  HEADRACE_ASSERT(!arrival.here && !arrival.watch->receiving());
  arrival.submitted = false;
  arrival.watch->set_receiving(true);
  wanted_.push_back(&arrival);
}

void Ring::cancel(Arrival& arrival) {
  unwanted_.push_back(&arrival);
}

ByteSpan Ring::bytes(const Arrival& arrival) const {
  if (arrival.result <= 0) return {};
  return ByteSpan(buffers_.get() + size_t{arrival.buffer} * kBufferBytes,
                  static_cast<size_t>(arrival.result))
      .subspan(arrival.taken_bytes);
}

void Ring::take(Arrival& arrival, size_t bytes) {
  if (arrival.result > 0) {
    arrival.taken_bytes = static_cast<uint16_t>(arrival.taken_bytes + bytes);
    if (arrival.taken_bytes < arrival.result) return;
    give_back(arrival.buffer);
  }
  arrival.here = false;
}

void Ring::abandon(std::unique_ptr<Arrival> arrival) {
  Ring& ring = arrival->ring;
  if (arrival->here && arrival->result > 0) ring.give_back(arrival->buffer);
  if (arrival->departing)
    for (Departure& departure : ring.departures_)
      if (departure.arrival == arrival.get()) departure.arrival = nullptr;
  if (!arrival->watch->receiving()) return;
  arrival->watch = nullptr;
  if (arrival->submitted) ring.unwanted_.push_back(arrival.get());
  (void)arrival.release();  // freed by its completion, or when it would have been submitted
}

bool Ring::send(Arrival& arrival, ByteSpan bytes) {
  HEADRACE_ASSERT(!arrival.departing && !arrival.unsent);
  if (departures_.size() >= kDeparturesMax) return false;
  departures_.push_back({&arrival, bytes});
  arrival.departing = true;
  return true;
}

io_uring_sqe& Ring::next_entry() {
  if (!enabled_) enable();
  if (io_uring_sq_space_left(ring_.get()) == 0) submit_all();
  return *io_uring_get_sqe(ring_.get());
}

void Ring::submit_departures() {
  for (size_t i = 0; i < departures_.size(); ++i) {
    const Departure& departure = departures_[i];
    if (!departure.arrival) {
      ++departed_;
      continue;
    }
    io_uring_sqe& entry = next_entry();
    sys::prepare_send(entry, departure.arrival->fd, departure.bytes.data(), departure.bytes.size());
    io_uring_sqe_set_data64(&entry, uint64_t{i} << kKindBits | kDeparture);
  }
}

void Ring::submit_wishes() {
  if (!watches_epoll_) {
    io_uring_sqe& entry = next_entry();
    io_uring_prep_poll_add(&entry, epoll_fd_, POLLIN);
    io_uring_sqe_set_data64(&entry, kEpoll);
    watches_epoll_ = true;
  }
  for (Arrival* arrival : wanted_) {
    if (!arrival->watch) {
      delete arrival;
      continue;
    }
    io_uring_sqe& entry = next_entry();
    sys::prepare_receive(entry, arrival->fd, kBufferBytes, kGroup);
    io_uring_sqe_set_data(&entry, arrival);
    arrival->submitted = true;
    ++in_flight_;
  }
  wanted_.clear();
  for (Arrival* arrival : unwanted_) {
    io_uring_sqe& entry = next_entry();
    io_uring_prep_cancel(&entry, arrival, 0);
    io_uring_sqe_set_data64(&entry, kCancel);
  }
  unwanted_.clear();
}

// Nothing may stay queued: the descriptors it names can be closed, and their numbers given anew.
void Ring::submit_all() {
  while (io_uring_sq_ready(ring_.get()) > 0) {
    const int result = io_uring_submit(ring_.get());
    HEADRACE_ASSERT(result >= 0 || passes(result));
  }
}

// A send that does not wait is over when it was handed over, but its completion may stand behind
// others that found no room.
void Ring::send_all() {
  submit_departures();
  submit_all();
  take_completions();
  while (departed_ < departures_.size()) {
    io_uring_get_events(ring_.get());
    take_completions();
  }
  departures_.clear();
  departed_ = 0;
}

bool Ring::turn(int wait_milliseconds) {
  submit_wishes();
  const int result = sys::submit_and_wait(*ring_, wait_milliseconds);
  HEADRACE_ASSERT(result >= 0 || result == -ETIME || passes(result));
  submit_all();
  completions_ = 0;
  take_completions();
  return std::exchange(epoll_has_events_, false);
}

void Ring::take_completions() {
  unsigned count = 0;
  unsigned head = 0;
  io_uring_cqe* completion = nullptr;
  io_uring_for_each_cqe(ring_.get(), head, completion) {
    ++count;
    const uint64_t what = io_uring_cqe_get_data64(completion);
    if (what == kEpoll) {
      watches_epoll_ = false;
      epoll_has_events_ = true;
    } else if ((what & kKindMask) == kDeparture) {
      complete(departures_[what >> kKindBits], completion->res);
    } else if (what != kCancel) {
      complete(*static_cast<Arrival*>(io_uring_cqe_get_data(completion)), completion->res,
               completion->flags);
    }
  }
  io_uring_cq_advance(ring_.get(), count);
  completions_ += static_cast<int>(count);
}

void Ring::complete(Arrival& arrival, int result, unsigned flags) {
  --in_flight_;
  const bool has_buffer = (flags & IORING_CQE_F_BUFFER) != 0;
  const auto buffer = static_cast<uint16_t>(flags >> IORING_CQE_BUFFER_SHIFT);
  if (has_buffer && (result <= 0 || !arrival.watch)) give_back(buffer);
  if (!arrival.watch) {
    std::erase(unwanted_, &arrival);
    delete &arrival;
    return;
  }
  arrival.watch->set_receiving(false);
  arrival.here = !says_nothing(result);
  arrival.result = result;
  arrival.buffer = buffer;
  arrival.taken_bytes = 0;
  arrival.more =
      (flags & IORING_CQE_F_SOCK_NONEMPTY) != 0 || result == static_cast<int>(kBufferBytes);
  loop_.note(*arrival.watch, EPOLLIN);
}

void Ring::complete(const Departure& departure, int result) {
  ++departed_;
  Arrival& arrival = *departure.arrival;
  arrival.departing = false;
  const size_t sent = result > 0 ? static_cast<size_t>(result) : 0;
  if (sent == departure.bytes.size()) return;
  arrival.unsent = std::make_unique<Unsent>();
  arrival.unsent->bytes.append(departure.bytes.subspan(sent));
  if (result >= 0 || result == -EAGAIN || result == -EINTR)
    arrival.watch->clear_writable();
  else
    arrival.unsent->os_errno = -result;
  loop_.note(*arrival.watch, 0);
}

void Ring::give_back(uint16_t buffer) {
  io_uring_buf_ring_add(free_buffers_, buffers_.get() + size_t{buffer} * kBufferBytes, kBufferBytes,
                        buffer, io_uring_buf_ring_mask(kBuffers), 0);
  io_uring_buf_ring_advance(free_buffers_, 1);
}

}  // namespace headrace::net
