// What an operator can set about what stands in front of a connection's own bytes.
#pragma once

#include <cstdint>

namespace headrace::preface {

// Which version of the PROXY protocol an upstream is told the client's address by.
enum class ProxyProtocol : uint8_t { off, v1, v2 };

}  // namespace headrace::preface
