// Counts what the program asks of the kernel and of the heap while a test lets it run. The linker
// leads each call of the traffic path through counted_calls.cc (tests/io/CMakeLists.txt has their
// names), and operator new is replaced; the kernel's own work is as it always is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iosfwd>

namespace headrace::io {

// Calls that do the same by another name count as one kind.
enum class Call : uint8_t {
  receive,
  send,
  splice,
  wait,  // those that brought an event: how often nothing comes is the test's own doing
  watch,
  accept,
  socket,
  connect,
  bind,
  name,  // of a socket: its own address, its peer's
  option,
  shutdown,
  close,
  pipe,
  control,
  open,
  other,
};

struct Counts {
  static constexpr size_t kKinds = static_cast<size_t>(Call::other) + 1;

  std::array<size_t, kKinds> calls{};
  size_t allocations = 0;
  size_t allocated_bytes = 0;

  size_t of(Call call) const { return calls[static_cast<size_t>(call)]; }
  size_t all_calls() const;
};
// "send 2, wait 1, allocations 0": what is not zero.
std::ostream& operator<<(std::ostream& out, const Counts& counts);

// While one lives, what its thread does is counted into `counts`. At most one at a time.
class Counting {
 public:
  explicit Counting(Counts& counts);
  ~Counting();
  Counting(const Counting&) = delete;
  Counting& operator=(const Counting&) = delete;
};

}  // namespace headrace::io
