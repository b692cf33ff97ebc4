// Every option that has a key: one row each, from which come parsing, checking, suggestions,
// `headrace help options` and docs/configuration.md, so that they cannot disagree. The same keys
// are given on the command line (--set KEY=VALUE) and in a configuration file.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "config/parsed.h"
#include "config/settings.h"

namespace headrace::config {

// What a key says something about. A listener's key may also stand at the top, as the default of
// all.
enum class Scope : uint8_t { top, listener };

// Whether a reload applies a changed value, or only a restart does.
enum class Reload : uint8_t { applies, needs_restart };

// Where values go: those of top keys to the settings, the others to the listener.
struct Place {
  Settings& settings;
  Listener& listener;
};

// The kind of an option's value. `show` gives a text that `set` reads as the same value.
struct Value {
  std::string syntax;  // kind, unit and bounds, for the reference page
  std::function<std::optional<Fault>(Place, std::string_view text)> set;
  std::function<std::string(Place)> show;
};

struct Option {
  std::string_view name;
  Scope scope;
  Reload reload;
  Value value;
  std::string_view summary;

  // What holds where the key is not given; comes from the options.h that the row fills.
  std::string default_text() const;
};

std::span<const Option> options();

// nullptr where there is none.
const Option* find_option(std::string_view name);

// Of a key that does not exist: that it does not, and which one is nearest.
Fault unknown_key_fault(std::string_view name);

// docs/configuration.md, and `headrace help options`: the rows in words.
std::string options_page();

}  // namespace headrace::config
