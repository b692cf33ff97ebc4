#include "access/inside.h"

#include <gtest/gtest.h>

#include "addresses.h"

namespace headrace::access {
namespace {

TEST(inside_guard, b148_inside_addresses_are_inside_however_they_are_wrapped) {
  for (const char* text :
       {"127.0.0.1", "127.255.255.254", "0.0.0.0", "0.0.0.1", "169.254.169.254", "224.0.0.1",
        "255.255.255.255", "::", "::1", "fe80::1", "ff02::1",
        // mapped
        "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::ffff:a9fe:a9fe", "::ffff:0.0.0.0",
        // compatible, and SIIT
        "::127.0.0.1", "::169.254.169.254", "::ffff:0:127.0.0.1",
        // NAT64
        "64:ff9b::7f00:1", "64:ff9b::169.254.169.254", "64:ff9b::0.0.0.0",
        // 6to4
        "2002:7f00:1::", "2002:a9fe:a9fe::1"})
    EXPECT_EQ(reach_of(ip(text)), Reach::inside) << text;
}

TEST(inside_guard, b148_private_addresses_are_private_however_they_are_wrapped) {
  for (const char* text :
       {"10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "fd00::1",
        "fc00::1", "fec0::1", "::ffff:10.0.0.1", "::10.0.0.1", "64:ff9b::192.168.1.1",
        "64:ff9b:1::1", "2002:a00:1::", "2002:c0a8:101::1"})
    EXPECT_EQ(reach_of(ip(text)), Reach::private_range) << text;
}

TEST(inside_guard, addresses_of_the_internet_stay_reachable_also_wrapped) {
  for (const char* text :
       {"192.0.2.1", "8.8.8.8", "172.15.0.1", "172.32.0.1", "100.128.0.1", "2001:db8::1",
        "2606:4700::1111", "::ffff:192.0.2.1", "64:ff9b::192.0.2.1", "2002:c000:201::1"})
    EXPECT_EQ(reach_of(ip(text)), Reach::outside) << text;
}

}  // namespace
}  // namespace headrace::access
