// What this process may use of its host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/ip.h"

namespace headrace::app {

// CPUs by affinity mask and CPU quota of the control group (v1 or v2), at least 1.
size_t usable_cpus();

// Raises the soft limit of descriptors to the hard one; the limit that holds now.
uint64_t raise_descriptor_limit();

// Of all interfaces.
std::vector<IpAddress> interface_addresses();

// Eight random hexadecimal digits.
std::string random_id();

}  // namespace headrace::app
