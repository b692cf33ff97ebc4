#include "resolver_fixture.h"

#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "base/check.h"

namespace headrace::dns {

TextFile::TextFile(const std::string& text) : path_(testing::TempDir() + "dns_test_XXXXXX") {
  UniqueFd made(::mkstemp(path_.data()));
  HEADRACE_ASSERT(made);
  replace(text);
}

TextFile::~TextFile() {
  ::unlink(path_.c_str());
}

void TextFile::replace(const std::string& text) {
  const std::string next = path_ + ".next";
  std::ofstream(next) << text;
  HEADRACE_ASSERT(std::rename(next.c_str(), path_.c_str()) == 0);
}

std::string text_of(const std::vector<IpAddress>& addresses) {
  std::string text;
  for (const IpAddress& address : addresses) {
    if (!text.empty()) text += ' ';
    text += address.to_string();
  }
  return text;
}

ResolverTest::ResolverTest() : loop(std::move(net::Loop::create(clock)).value()) {
  options.hosts_path = hosts.path();
  options.resolv_conf_path = resolv_conf.path();
}

void ResolverTest::make_resolver(net::Duration timeout) {
  options.timeout = timeout;
  options.servers = server.name();
  for (const ScriptedServer* more : more_servers) options.servers += ", " + more->name();
  resolver = std::move(Resolver::create(*loop, options)).value();
}

std::unique_ptr<Asker> ResolverTest::ask(const std::string& name) {
  if (!resolver) make_resolver();
  auto asker = std::make_unique<Asker>();
  resolver->resolve(name, asker->lookup);
  return asker;
}

std::unique_ptr<Asker> ResolverTest::resolve(const std::string& name) {
  std::unique_ptr<Asker> asker = ask(name);
  EXPECT_TRUE(run_until_finished(*asker)) << name;
  return asker;
}

void ResolverTest::turn() {
  loop->turn(std::chrono::milliseconds(1));
  server.poll();
  for (ScriptedServer* more : more_servers) more->poll();
}

// For a busy machine; a test that fails for want of an answer has its reason long before.
constexpr net::Duration kPatience = std::chrono::seconds(60);

bool ResolverTest::run_until(const std::function<bool()>& condition) {
  const net::SystemClock real;
  const net::Instant begin = real.now();
  while (!condition()) {
    if (real.now() - begin > kPatience) return false;
    turn();
  }
  took_ = real.now() - begin;
  return true;
}

void ResolverTest::run_for(net::Duration time) {
  const net::SystemClock real;
  const net::Instant end = real.now() + time;
  run_until([&] { return real.now() >= end; });
}

}  // namespace headrace::dns
