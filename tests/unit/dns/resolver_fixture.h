// A resolver on a real loop, and the name server that it asks.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dns/resolver.h"
#include "net/loop.h"
#include "scripted_server.h"

namespace headrace::dns {

// The real time, and what a test adds to it: sockets and c-ares live in the one, the cache in the
// sum.
class ShiftedClock final : public net::Clock {
 public:
  net::Instant now() const override { return system_.now() + shift_; }
  void advance(net::Duration by) { shift_ += by; }

 private:
  net::SystemClock system_;
  net::Duration shift_{0};
};

// Someone who wants a name.
struct Asker final : net::Runnable {
  void run() override {
    ++runs;
    if (when_ready) when_ready();
  }

  Lookup lookup{*this};
  int runs = 0;
  std::function<void()> when_ready;
};

// A file of the system that a test writes, gone with it.
class TextFile {
 public:
  explicit TextFile(const std::string& text);
  ~TextFile();
  const std::string& path() const { return path_; }
  // As an administrator's editor does it: another file takes the place.
  void replace(const std::string& text);

 private:
  std::string path_;
};

// Less than any server is given to answer: what takes less did not wait for a time-out.
inline constexpr net::Duration kAtOnce = std::chrono::milliseconds(900);

std::string text_of(const std::vector<IpAddress>& addresses);

class ResolverTest : public testing::Test {
 protected:
  ResolverTest();

  // To be called once the servers are known.
  void make_resolver(net::Duration timeout = std::chrono::seconds(5));
  std::unique_ptr<Asker> ask(const std::string& name);
  // Asks and waits until both families are answered.
  std::unique_ptr<Asker> resolve(const std::string& name);

  // Turns the loop and the servers until the condition holds; false when that takes over ten
  // seconds.
  bool run_until(const std::function<bool()>& condition);
  bool run_until_finished(Asker& asker) {
    return run_until([&] { return asker.lookup.finished(); });
  }
  // Turns for a while, for what must not happen.
  void run_for(net::Duration time);
  // What the last run_until or resolve took.
  net::Duration took() const { return took_; }

  void turn();

  ShiftedClock clock;
  std::unique_ptr<net::Loop> loop;
  TextFile hosts{""};
  TextFile resolv_conf{"search .\n"};  // nothing to search, whatever this host's own domain is
  ScriptedServer server;
  std::vector<ScriptedServer*> more_servers;  // served, and listed behind `server`
  Options options;
  std::unique_ptr<Resolver> resolver;

 private:
  net::Duration took_{0};
};

}  // namespace headrace::dns
