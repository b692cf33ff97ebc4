#include <gtest/gtest.h>

#include <cerrno>

#include "base/error.h"
#include "socks/socks5.h"

namespace headrace::socks {
namespace {

TEST(socks5, b120_each_failure_has_the_reply_that_clients_expect) {
  EXPECT_EQ(reply_code_of(errc_of_errno(ECONNREFUSED)), ReplyCode::connection_refused);
  EXPECT_EQ(reply_code_of(errc_of_errno(EHOSTUNREACH)), ReplyCode::host_unreachable);
  EXPECT_EQ(reply_code_of(errc_of_errno(ENETUNREACH)), ReplyCode::network_unreachable);
  EXPECT_EQ(reply_code_of(errc_of_errno(EAFNOSUPPORT)), ReplyCode::network_unreachable);
  EXPECT_EQ(reply_code_of(errc_of_errno(ETIMEDOUT)), ReplyCode::host_unreachable);
  EXPECT_EQ(reply_code_of(Errc::family_unsupported), ReplyCode::network_unreachable);
  EXPECT_EQ(reply_code_of(Errc::name_unknown), ReplyCode::host_unreachable);
  EXPECT_EQ(reply_code_of(Errc::target_denied), ReplyCode::not_allowed);
  EXPECT_EQ(reply_code_of(Errc::inside_denied), ReplyCode::not_allowed);
  EXPECT_EQ(reply_code_of(Errc::port_denied), ReplyCode::not_allowed);
  EXPECT_EQ(reply_code_of(Errc::unsupported), ReplyCode::command_not_supported);
}

TEST(socks5, b146_a_loop_is_not_allowed) {
  EXPECT_EQ(reply_code_of(Errc::loop), ReplyCode::not_allowed);
}

TEST(socks5, b152_our_own_shortages_are_general_failures) {
  for (const int os_errno : {EMFILE, ENFILE, ENOBUFS, ENOMEM, EADDRNOTAVAIL, EPERM})
    EXPECT_EQ(reply_code_of(errc_of_errno(os_errno)), ReplyCode::general_failure) << os_errno;
}

TEST(socks5, b120_no_failure_is_told_as_success) {
  for (size_t i = 0; i < kErrcCount; ++i)
    EXPECT_NE(reply_code_of(static_cast<Errc>(i)), ReplyCode::succeeded) << i;
}

}  // namespace
}  // namespace headrace::socks
