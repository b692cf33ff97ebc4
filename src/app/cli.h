// The command line: arguments in, and out comes what to serve, or what to print before ending. Pure
// but for CLI11, which does the splitting; main.cc prints and serves.
//
// Exit codes: 0 what was asked for was printed; 1 the arguments are understood, but a value is bad;
// 2 they are not understood. `run`, `check` and `explain` (the configuration file) get their
// commands here.
#pragma once

#include <span>
#include <string>
#include <variant>

#include "app/service_arguments.h"
#include "config/settings.h"

namespace headrace::app {

// Print this and end.
struct Printout {
  int exit_code = 0;
  std::string output;        // for standard output
  std::string error_output;  // for standard error
};

// `arguments` without the program's name.
std::variant<config::Settings, Printout> read_command_line(std::span<const std::string> arguments,
                                                           const Environment& environment);

}  // namespace headrace::app
