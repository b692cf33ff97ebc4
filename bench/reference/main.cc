// headrace-reference: the kernel's floor for a relay. bench/README.md has its place among the
// proxies.
#include <signal.h>

#include <cstdio>

#include "args.h"
#include "relay.h"

namespace headrace::reference {
namespace {

constexpr int kWrongUsage = 2;

std::optional<load::Address> take_address(load::Args& args, std::string_view name) {
  std::optional<load::Address> address = load::parse_address(args.take(name).value_or(""));
  if (!address) args.fault("--" + std::string(name) + " HOST:PORT is missing");
  return address;
}

int run(std::span<const char* const> words) {
  load::Args args(words.subspan(1));
  const std::optional<load::Address> at = take_address(args, "listen");
  const std::optional<load::Address> to = take_address(args, "to");
  const Bulk bulk = args.take_flag("splice") ? Bulk::splice : Bulk::copy;
  if (const std::optional<std::string> fault = args.finish()) {
    std::fprintf(stderr,
                 "headrace-reference: %s\n"
                 "usage: headrace-reference --listen HOST:PORT --to HOST:PORT [--splice]\n",
                 fault->c_str());
    return kWrongUsage;
  }
  load::raise_descriptor_limit();
  ::signal(SIGPIPE, SIG_IGN);  // splice(2) has no flag for it
  return Relay(*to, bulk).run(*at);
}

}  // namespace
}  // namespace headrace::reference

int main(int argc, char** argv) {
  return headrace::reference::run(std::span<const char* const>(argv, static_cast<size_t>(argc)));
}
