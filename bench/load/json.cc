#include "json.h"

#include <cmath>
#include <cstdio>

namespace headrace::load {
namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte >= 0x7f) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\u%04x", byte);
      out += escape;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

}  // namespace

void JsonObject::add(std::string_view name, std::string_view text) {
  add_raw(name, quoted(text));
}

void JsonObject::add(std::string_view name, double value) {
  if (!std::isfinite(value)) return add_raw(name, "null");
  char text[32];
  std::snprintf(text, sizeof(text), "%.9g", value);
  add_raw(name, text);
}

void JsonObject::add_raw(std::string_view name, std::string_view value) {
  if (!members_.empty()) members_ += ',';
  members_ += quoted(name);
  members_ += ':';
  members_ += value;
}

}  // namespace headrace::load
