// The kinds of values that options have: each function makes the Value of one row of the table from
// where the value is kept and which values are allowed.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "access/options.h"
#include "base/ip.h"
#include "config/options_table.h"
#include "config/units.h"
#include "config/words.h"
#include "tls/options.h"

namespace headrace::config {

// Where a value of type T is kept.
template <class T>
using In = std::function<T&(Place)>;

template <class T>
In<T> in(T Settings::*member) {
  return [member](Place place) -> T& { return place.settings.*member; };
}
template <class T>
In<T> in(T net::Options::*member) {
  return [member](Place place) -> T& { return place.settings.net.*member; };
}
template <class T>
In<T> in(T dns::Options::*member) {
  return [member](Place place) -> T& { return place.settings.dns.*member; };
}
template <class T>
In<T> in(T Listener::*member) {
  return [member](Place place) -> T& { return place.listener.*member; };
}
template <class T>
In<T> in(T session::ListenerOptions::*member) {
  return [member](Place place) -> T& { return place.listener.session.*member; };
}
template <class T>
In<T> in(T access::Options::*member) {
  return [member](Place place) -> T& { return place.listener.access.*member; };
}

template <class T>
In<T> in(T tls::ServerOptions::*member) {
  return [member](Place place) -> T& { return place.listener.session.tls.*member; };
}
template <class T>
In<T> in(T tls::ClientOptions::*member) {
  return [member](Place place) -> T& { return place.listener.session.to_tls.*member; };
}

Value duration(In<microseconds> in, microseconds min, microseconds max);
Value count(In<uint32_t> in, uint32_t min, uint32_t max);
// "auto" is kept as 0.
Value count_or_auto(In<uint32_t> in, uint32_t max);
// An address of this host; "auto" leaves the choice to the kernel and is kept as none.
Value address_or_auto(In<std::optional<IpAddress>> in);
// 1 to 65535.
Value port(In<uint16_t> in);
// Networks and addresses separated by commas; "off" is kept as none.
Value networks_or_off(In<std::vector<IpNetwork>> in);
// Addresses with or without port, separated by commas; "system" is kept as the empty text.
Value servers_or_system(In<std::string> in);
// "443, 8000-8099", or "any".
Value ports(In<access::PortSet> in);
// A file to write to, "-" for standard output, or "off".
Value log_target(In<std::string> in);

// Files to read, separated by commas; "none" is kept as no file.
Value files(In<std::vector<std::string>> in);
// A file to read; "none" is kept as the empty text.
Value file_or_none(In<std::string> in);
// A text that is not looked into here; `empty` is kept as the empty text.
Value text_or(In<std::string> in, std::string_view empty, std::string_view syntax);
// A list that is not looked into here; "auto" is kept as it is.
Value list_or_auto(In<std::string> in, std::string_view separator);

// One of a few words.
template <class Enum>
Value choice(In<Enum> in, std::vector<std::pair<std::string_view, Enum>> words) {
  std::string syntax;
  for (const auto& [word, meaning] : words) {
    if (!syntax.empty()) syntax += word == words.back().first ? " or " : ", ";
    syntax += word;
  }
  auto set = [in, words, syntax](Place place, std::string_view text) -> std::optional<Fault> {
    for (const auto& [word, meaning] : words) {
      if (word != text) continue;
      in(place) = meaning;
      return std::nullopt;
    }
    return Fault{in_quotes(text) + " is not one of " + syntax};
  };
  auto show = [in, words](Place place) {
    const auto known = std::find_if(words.begin(), words.end(),
                                    [&](const auto& row) { return row.second == in(place); });
    return std::string(known->first);
  };
  return Value{syntax, set, show};
}

}  // namespace headrace::config
