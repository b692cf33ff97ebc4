// The reference page of the options, made of their rows.
#include <string>

#include "config/options_table.h"
#include "config/words.h"

namespace headrace::config {
namespace {

constexpr std::string_view kIntroduction =
    "# Configuration keys\n"
    "\n"
    "Every key that headrace knows, with what it takes and what holds without it. On the command\n"
    "line a key is given as `--set KEY=VALUE`, as often as needed; each key once. A wrong value or "
    "an\n"
    "unknown key ends the start with exit code 1 and the reason.\n"
    "\n"
    "- Durations are whole numbers with a unit: `us`, `ms`, `s`, `min`, `h` or `d`.\n"
    "- A key marked *restart* is read once, at the start.\n"
    "\n"
    "This page is what `headrace help options` prints; it is made from the table in\n"
    "`src/config/options_table.cc`.\n";

constexpr size_t kColumns = 100;

void append_row(std::string& page, const Option& option) {
  page += "\n### `" + std::string(option.name) + "`\n\n";
  std::string facts = option.value.syntax + "; default `" + option.default_text() + "`";
  if (option.reload == Reload::needs_restart) facts += "; *restart*";
  page += wrapped(facts, kColumns) + "\n\n" + wrapped(option.summary, kColumns) + '\n';
}

void append_rows(std::string& page, Scope scope) {
  for (const Option& option : options())
    if (option.scope == scope) append_row(page, option);
}

}  // namespace

std::string options_page() {
  std::string page(kIntroduction);
  page += "\n## Of a listener\n";
  append_rows(page, Scope::listener);
  page += "\n## Of the whole program\n";
  append_rows(page, Scope::top);
  return page;
}

}  // namespace headrace::config
