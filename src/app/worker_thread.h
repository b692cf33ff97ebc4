// One worker: a thread with its loop, resolver, sessions and its ends of the listeners. Others
// speak to it by messages only.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "dns/resolver.h"
#include "net/loop.h"
#include "session/listener.h"
#include "session/worker.h"

namespace headrace::app {

class WorkerThread final : public net::Runnable {
 public:
  using Message = std::function<void(WorkerThread&)>;

  // All outlive the worker.
  static Result<std::unique_ptr<WorkerThread>> create(size_t index, const net::Options& net,
                                                      const dns::Options& dns, LogSink& log,
                                                      std::string via_id);
  ~WorkerThread();

  // Before start().
  Result<Done> listen(session::Listener& listener, UniqueFd fd, session::Handover& handover);
  void start();

  // From any thread: runs on the worker's thread, soon.
  void post(Message message);
  void drain();  // stop accepting, end what is at rest
  void cut();    // end all sessions with resets
  void stop();   // leave the loop
  void join();

  // From any thread, a moment old.
  size_t sessions() const { return sessions_.load(std::memory_order_relaxed); }
  bool drained() const { return drained_.load(std::memory_order_acquire); }
  session::Worker& worker() { return *worker_; }
  // Before start(): what it waits with, and why Engine::automatic took epoll, if it did.
  std::string_view engine_name() const { return loop_->ring() ? "io_uring" : "epoll"; }
  int ring_errno() const { return loop_->ring_errno(); }

  void run() override;  // messages have come

 private:
  WorkerThread();
  void run_loop();

  net::SystemClock clock_;
  std::unique_ptr<net::Loop> loop_;
  std::unique_ptr<dns::Resolver> resolver_;
  std::unique_ptr<session::Worker> worker_;
  std::vector<std::unique_ptr<session::Acceptor>> acceptors_;
  net::Watch mailbox_watch_;
  UniqueFd mailbox_event_;
  std::mutex mailbox_mutex_;
  std::vector<Message> mailbox_;
  std::atomic<size_t> sessions_{0};
  std::atomic<bool> drained_{false};
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace headrace::app
