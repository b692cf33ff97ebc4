// headrace-load: the load client and the origin of the lab. README.md has both command lines.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "client.h"
#include "origin.h"
#include "pattern.h"

namespace headrace::load {
namespace {

constexpr int kWrongUsage = 2;

int usage() {
  std::fputs(
      "usage: headrace-load client request|stream|mix|rate|message|idle --connect HOST:PORT ...\n"
      "       headrace-load origin --listen ROLE:HOST:PORT ...\n"
      "       headrace-load pattern BYTES [OFFSET]\n"
      "bench/load/README.md has the options.\n",
      stderr);
  return kWrongUsage;
}

int write_pattern(Args args) {
  const auto bytes = parse_number<uint64_t>(args.take_word().value_or(""));
  const auto offset = parse_number<uint64_t>(args.take_word().value_or("0"));
  if (!bytes || !offset || args.finish()) return usage();
  const Pattern pattern;
  for (uint64_t done = 0; done < *bytes;) {
    const size_t length = std::min<uint64_t>(*bytes - done, kPatternPeriodBytes);
    const ssize_t written = ::write(STDOUT_FILENO, pattern.at(*offset + done), length);
    if (written <= 0) {
      std::perror("headrace-load pattern");
      return 1;
    }
    done += static_cast<uint64_t>(written);
  }
  return 0;
}

int run(std::span<const char* const> words) {
  if (words.size() < 2) return usage();
  const std::string_view side = words[1];
  Args args(words.subspan(2));
  if (side == "pattern") return write_pattern(args);
  if (side == "client") {
    const std::optional<ClientOptions> options = read_client_options(args);
    return options ? Client(*options).run() : kWrongUsage;
  }
  if (side == "origin") {
    const std::optional<OriginOptions> options = read_origin_options(args);
    return options ? Origin(*options).run() : kWrongUsage;
  }
  return usage();
}

}  // namespace
}  // namespace headrace::load

int main(int argc, char** argv) {
  return headrace::load::run(std::span<const char* const>(argv, static_cast<size_t>(argc)));
}
