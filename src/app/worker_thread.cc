#include "app/worker_thread.h"

#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>

#include "session/session.h"

namespace headrace::app {

WorkerThread::WorkerThread()
    : mailbox_watch_(*this), mailbox_event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

WorkerThread::~WorkerThread() {
  join();
}

Result<std::unique_ptr<WorkerThread>> WorkerThread::create(size_t index, const dns::Options& dns,
                                                           LogSink& log, std::string via_id) {
  std::unique_ptr<WorkerThread> self(new WorkerThread());
  if (!self->mailbox_event_) return Error{errc_of_errno(errno), Side::local, errno};
  Result<std::unique_ptr<net::Loop>> loop = net::Loop::create(self->clock_);
  if (!loop) return loop.error();
  self->loop_ = std::move(*loop);
  Result<std::unique_ptr<dns::Resolver>> resolver = dns::Resolver::create(*self->loop_, dns);
  if (!resolver) return resolver.error();
  self->resolver_ = std::move(*resolver);
  self->worker_ = std::make_unique<session::Worker>(index, *self->loop_, *self->resolver_, log,
                                                    std::move(via_id));
  Result<Done> added = self->loop_->add(self->mailbox_event_.get(), self->mailbox_watch_, EPOLLIN);
  if (!added) return added.error();
  return self;
}

Result<Done> WorkerThread::listen(session::Listener& listener, UniqueFd fd,
                                  session::Handover& handover) {
  auto acceptor = std::make_unique<session::Acceptor>(*worker_, listener, handover);
  Result<Done> opened = acceptor->open(std::move(fd));
  if (!opened) return opened;
  acceptors_.push_back(std::move(acceptor));
  return Done{};
}

void WorkerThread::start() {
  thread_ = std::thread([this] { run_loop(); });
}

void WorkerThread::run_loop() {
  // The loop's rests are short: the default slack of 50 us would more than double them.
  prctl(PR_SET_TIMERSLACK, 1);
  while (!stopping_) {
    worker_->turn();
    sessions_.store(worker_->session_count(), std::memory_order_relaxed);
    if (worker_->draining() && worker_->session_count() == 0)
      drained_.store(true, std::memory_order_release);
  }
  loop_->turn(net::Duration(0));  // sessions cut by the last message end their own way
  // Here, on its own thread, everything of the worker ends.
  acceptors_.clear();
  worker_.reset();
  resolver_.reset();
  loop_.reset();
}

void WorkerThread::post(Message message) {
  {
    std::lock_guard lock(mailbox_mutex_);
    mailbox_.push_back(std::move(message));
  }
  uint64_t one = 1;
  // A full counter wakes as well, so the result says nothing of interest.
  [[maybe_unused]] ssize_t written = ::write(mailbox_event_.get(), &one, sizeof(one));
}

void WorkerThread::run() {
  uint64_t count;
  [[maybe_unused]] ssize_t got = ::read(mailbox_event_.get(), &count, sizeof(count));
  std::vector<Message> messages;
  {
    std::lock_guard lock(mailbox_mutex_);
    messages.swap(mailbox_);
  }
  for (Message& message : messages) message(*this);
}

void WorkerThread::drain() {
  post([](WorkerThread& self) {
    for (auto& acceptor : self.acceptors_) acceptor->close();
    self.worker_->drain();
  });
}

void WorkerThread::cut() {
  post([](WorkerThread& self) { self.worker_->cut_all(); });
}

void WorkerThread::stop() {
  post([](WorkerThread& self) { self.stopping_ = true; });
}

void WorkerThread::join() {
  if (thread_.joinable()) thread_.join();
}

}  // namespace headrace::app
