// How the event loop waits.
#pragma once

#include <cstdint>

namespace headrace::net {

enum class Engine : uint8_t {
  automatic,  // io_uring where the kernel grants it and it pays, else epoll; the default
  epoll,
  io_uring,  // or nothing; also where its set-up costs more than it saves
};

struct Options {
  Engine engine = Engine::automatic;
};

}  // namespace headrace::net
