// A relay listener in front of an origin, once per way of moving bytes.
#pragma once

#include <gtest/gtest.h>

#include "worker_fixture.h"

namespace headrace::io {

class RelayTest : public WorkerTest {
 protected:
  explicit RelayTest(Time time = Time::real) : WorkerTest(time) {}

  // Opens the listener and one tunnel through it, which stands. `front` are the buffers on the
  // client's side of the program, `client_sizes` those of the client itself.
  void open_tunnel(relay::SpliceMode splice, BufferSizes front = {},
                   BufferSizes client_sizes = {}) {
    session::ListenerOptions options = relay_to(listener.endpoint());
    options.splice = splice;
    open_tunnel(options, front, client_sizes);
  }
  void open_tunnel(const session::ListenerOptions& options, BufferSizes front = {},
                   BufferSizes client_sizes = {}) {
    front_ = &listen(options, front);
    open_another_tunnel(client_sizes);
  }
  void open_another_tunnel(BufferSizes client_sizes = {}) {
    const uint64_t tunnels_before = worker().stats.tunnels.value();
    client = PlainSocket::connect_to(front_->endpoint, client_sizes);
    upstream = accept_from(listener);
    ASSERT_TRUE(upstream.is_open());
    ASSERT_TRUE(run_until([&] { return worker().stats.tunnels.value() > tunnels_before; }));
  }

  // Sends and waits for it to come out at the other side; nothing else may be on its way there.
  bool passes(PlainSocket& from, PlainSocket& to, const std::string& bytes) {
    to.take_received();
    from.send(bytes);
    return run_until([&] { return from.flush() && to.received().size() >= bytes.size(); }) &&
           to.take_received() == bytes;
  }
  bool ends(PlainSocket& socket) {
    return run_until([&] { return socket.end() != PlainSocket::End::open; });
  }
  uint64_t copied() { return worker().mover.copied_bytes; }
  uint64_t spliced() { return worker().mover.spliced_bytes; }

  PlainListener listener;
  Front* front_ = nullptr;
  PlainSocket client;
  PlainSocket upstream;
};

// The same claims for both ways.
class RelayPathTest : public RelayTest, public testing::WithParamInterface<relay::SpliceMode> {
 protected:
  using RelayTest::RelayTest;
  void open_tunnel(BufferSizes front = {}, BufferSizes client_sizes = {}) {
    RelayTest::open_tunnel(GetParam(), front, client_sizes);
  }
};

inline std::string name_of_path(const testing::TestParamInfo<relay::SpliceMode>& info) {
  return info.param == relay::SpliceMode::always ? "splice" : "copy";
}
inline const auto kBothPaths = testing::Values(relay::SpliceMode::never, relay::SpliceMode::always);

}  // namespace headrace::io
