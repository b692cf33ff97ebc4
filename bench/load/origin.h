// The origin: listeners of several roles, one thread, one epoll set.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "args.h"
#include "served.h"
#include "socket.h"
#include "tls.h"

namespace headrace::load {

struct OriginListen {
  Role role;
  std::string role_name;
  bool tls;
  Address at;
};

struct OriginOptions {
  std::vector<OriginListen> listen;
  std::string cert_file;
  std::string key_file;
  bool until_stdin_ends = false;
};

// Reads the words behind `origin`; nothing, and a reason on standard error, when they are wrong.
std::optional<OriginOptions> read_origin_options(Args args);

class Origin {
 public:
  explicit Origin(const OriginOptions& options);
  ~Origin();

  // Serves until it is told to end, then prints its counts; the exit status of the program.
  int run();

 private:
  struct Listener {
    UniqueFd fd;
    Role role;
    bool tls;
  };

  bool listen_all();
  bool watch_input();
  void turn();
  void accept_batch(Listener& listener);
  void admit(UniqueFd fd, const Listener& listener);
  void serve(Served& served, uint32_t events);
  void settle(Served& served, Served::Outcome outcome);
  void tick(int64_t now_ns);
  void set_listening(bool on);
  void print_counts() const;

  OriginOptions options_;
  Pattern pattern_;
  std::vector<uint8_t> scratch_;
  OriginShared shared_;
  std::unique_ptr<TlsContext> tls_;
  UniqueFd epoll_;
  std::vector<Listener> listeners_;
  std::unordered_map<Served*, std::unique_ptr<Served>> served_;
  std::set<Served*> ticking_;
  std::vector<Served*> again_;  // with more to do; null where one has closed meanwhile
  int64_t next_tick_ns_ = 0;
  bool is_listening_ = true;
  bool is_over_ = false;
};

}  // namespace headrace::load
