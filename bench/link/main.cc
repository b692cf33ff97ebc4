// headrace-link: an emulated link in user space. README.md has the command line.
#include "link.h"

namespace headrace::link {
namespace {

constexpr int kWrongUsage = 2;

int run(std::span<const char* const> words) {
  const std::optional<LinkOptions> options = read_link_options(load::Args(words.subspan(1)));
  if (!options) return kWrongUsage;
  std::optional<Tun> a = Tun::make(options->a, options->mtu_bytes);
  if (!a) return 1;
  std::optional<Tun> b = Tun::make(options->b, options->mtu_bytes);
  if (!b) return 1;
  return Link(*options, std::move(*a), std::move(*b)).run();
}

}  // namespace
}  // namespace headrace::link

int main(int argc, char** argv) {
  return headrace::link::run(std::span<const char* const>(argv, static_cast<size_t>(argc)));
}
