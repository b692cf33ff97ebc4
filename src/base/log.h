// Where log lines go. Writing one never waits: a sink that is full drops the line and counts it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace headrace {

enum class LogLevel : uint8_t { error, warn, info, debug };
std::string_view name_of(LogLevel level);

class LogSink {
 public:
  virtual ~LogSink() = default;

  virtual bool wants(LogLevel level) const = 0;
  // `fields` is logfmt without time and level, which the sink puts in front.
  virtual void write(LogLevel level, std::string_view fields) = 0;
  // To one of the access logs, by the number it was opened under.
  virtual void write_access(size_t access_log, std::string_view fields) = 0;
};

}  // namespace headrace
