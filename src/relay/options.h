// How the relay chooses between copying and splicing.
#pragma once

#include <cstdint>

namespace headrace::relay {

enum class SpliceMode : uint8_t {
  automatic,  // by what the reads show; the default
  always,     // from the first byte
  never,
};

}  // namespace headrace::relay
