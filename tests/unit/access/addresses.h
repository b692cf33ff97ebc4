// Addresses and networks from literals that the test's author vouches for.
#pragma once

#include <gtest/gtest.h>

#include "base/ip.h"

namespace headrace::access {

inline IpAddress ip(std::string_view text) {
  const std::optional<IpAddress> address = IpAddress::parse(text);
  EXPECT_TRUE(address) << text;
  return address.value_or(IpAddress());
}

inline IpNetwork network(std::string_view text) {
  const std::optional<IpNetwork> parsed = IpNetwork::parse(text);
  EXPECT_TRUE(parsed) << text;
  return parsed.value_or(IpNetwork(IpAddress(), 32));
}

}  // namespace headrace::access
