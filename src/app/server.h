// The whole program between start and end: listeners, workers, signals. Its thread is the control
// thread; it carries no client.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "app/listen.h"
#include "app/log_writer.h"
#include "app/tls_contexts.h"
#include "app/worker_thread.h"
#include "config/settings.h"
#include "session/listener.h"

namespace headrace::app {

class Server final : public session::Handover {
 public:
  explicit Server(const config::Settings& settings);
  ~Server();

  // Starts, serves until a signal, drains. The exit code; what went wrong stands on stderr.
  int run();

  // From a worker's thread.
  void hand_over(size_t worker, session::Listener& listener, UniqueFd client,
                 std::optional<net::Endpoint> address) override;

 private:
  // Each says on stderr what keeps it from going on.
  bool open_sockets();
  bool guard_against_open_proxy() const;
  bool make_listeners();
  bool make_tls();
  bool make_workers();
  void announce() const;
  void wait_for_signal();
  void reload_certificates();
  void drain();

  const config::Settings& settings_;
  const size_t worker_count_;
  LogWriter log_;
  std::vector<std::vector<ListeningSockets>> sockets_;  // per listener of the settings
  std::vector<std::unique_ptr<session::Listener>> listeners_;
  std::vector<TlsContexts> tls_;  // per listener
  std::vector<std::unique_ptr<WorkerThread>> workers_;
};

}  // namespace headrace::app
