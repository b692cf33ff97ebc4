#include <cstdio>
#include <cstdlib>
#include <string>
#include <variant>
#include <vector>

#include "app/cli.h"
#include "app/server.h"

namespace {

std::optional<std::string> environment_variable(const char* name) {
  const char* value = std::getenv(name);
  if (!value) return std::nullopt;
  return value;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace headrace;
  std::vector<std::string> arguments(argv + 1, argv + argc);
  app::Environment environment{environment_variable("HEADRACE_USER"),
                               environment_variable("HEADRACE_PASSWORD")};
  auto wish = app::read_command_line(arguments, environment);
  if (const auto* printout = std::get_if<app::Printout>(&wish)) {
    std::fputs(printout->output.c_str(), stdout);
    std::fputs(printout->error_output.c_str(), stderr);
    return printout->exit_code;
  }
  app::Server server(std::get<config::Settings>(wish));
  return server.run();
}
