#include "net/endpoint.h"

#include <gtest/gtest.h>
#include <sys/un.h>

#include <cstring>
#include <string>

#include "base/unique_fd.h"

namespace headrace::net {
namespace {

Endpoint endpoint(const char* address, uint16_t port) {
  return {*IpAddress::parse(address), port};
}

std::string listening_at(std::string_view text) {
  const std::optional<ListenAddress> address = ListenAddress::parse(text);
  return address ? address->to_string() : "refused";
}

TEST(endpoint, is_written_as_in_a_uri) {
  EXPECT_EQ(endpoint("192.0.2.1", 80).to_string(), "192.0.2.1:80");
  EXPECT_EQ(endpoint("2001:db8::1", 443).to_string(), "[2001:db8::1]:443");
  EXPECT_EQ(endpoint("0.0.0.0", 0).to_string(), "0.0.0.0:0");
}

TEST(socket_name, gives_back_the_endpoint_it_was_made_of) {
  for (const Endpoint& made_of : {endpoint("192.0.2.1", 80), endpoint("2001:db8::1", 65535)}) {
    const SocketName name(made_of);
    EXPECT_EQ(name.family(), made_of.address.is_v4() ? AF_INET : AF_INET6);
    EXPECT_EQ(name.endpoint(), made_of);
  }
}

TEST(socket_name, a_mapped_address_is_the_ipv4_address_it_means) {
  EXPECT_EQ(SocketName(endpoint("::ffff:192.0.2.1", 80)).endpoint(), endpoint("192.0.2.1", 80));
  // Translations (RFC 6052) are addresses of their own to the kernel.
  EXPECT_EQ(SocketName(endpoint("64:ff9b::c000:201", 80)).endpoint(),
            endpoint("64:ff9b::c000:201", 80));
}

TEST(socket_name, unix_paths_end_with_a_zero_byte_and_abstract_ones_do_not) {
  const SocketName path = SocketName::unix_path("/run/p");
  EXPECT_EQ(path.family(), AF_UNIX);
  EXPECT_EQ(path.length, offsetof(sockaddr_un, sun_path) + 7);
  EXPECT_FALSE(path.endpoint());

  const SocketName abstract = SocketName::unix_path("@p");
  EXPECT_EQ(abstract.length, offsetof(sockaddr_un, sun_path) + 2);
  sockaddr_un address;
  std::memcpy(&address, &abstract.storage, sizeof(address));
  EXPECT_EQ(address.sun_path[0], '\0');
  EXPECT_EQ(address.sun_path[1], 'p');
}

TEST(local_endpoint, is_where_the_kernel_bound_the_socket) {
  const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const SocketName any_port(endpoint("127.0.0.1", 0));
  ASSERT_EQ(::bind(fd.get(), any_port.get(), any_port.length), 0);
  const std::optional<Endpoint> bound = local_endpoint(fd.get());
  ASSERT_TRUE(bound);
  EXPECT_EQ(bound->address.to_string(), "127.0.0.1");
  EXPECT_NE(bound->port, 0);
  EXPECT_FALSE(local_endpoint(-1));
}

TEST(listen_address, every_form_is_read_and_written_alike) {
  for (const char* text : {"127.0.0.1:3128", "[::1]:0", ":3128", "0.0.0.0:65535", "[::]:80",
                           "unix:/run/headrace.sock", "unix:@headrace", "unix:relative"})
    EXPECT_EQ(listening_at(text), text);
  EXPECT_EQ(listening_at("localhost:80"), "127.0.0.1:80");
  EXPECT_EQ(listening_at("[2001:DB8:0::1]:80"), "[2001:db8::1]:80");
}

TEST(listen_address, what_could_be_misread_is_refused) {
  for (const char* text :
       {"", ":", "3128", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1",
        "127.0.0.1:80x", "127.1:80", "::1:80", "[::1]", "[::1:80", "::1]:80", "[127.0.0.1]:80",
        "example.test:80", "*:80", " :80", "[fe80::1%lo]:80", "unix:"})
    EXPECT_EQ(listening_at(text), "refused") << text;
}

TEST(listen_address, a_unix_path_fits_its_107_bytes) {
  EXPECT_NE(listening_at("unix:" + std::string(107, 'p')), "refused");
  EXPECT_EQ(listening_at("unix:" + std::string(108, 'p')), "refused");
}

TEST(listen_address, loopback_is_what_only_this_host_can_reach) {
  for (const char* text :
       {"127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "localhost:1", "unix:/p", "unix:@p"})
    EXPECT_TRUE(ListenAddress::parse(text)->is_loopback()) << text;
  for (const char* text : {":1", "0.0.0.0:1", "[::]:1", "192.0.2.1:1", "[2001:db8::1]:1"})
    EXPECT_FALSE(ListenAddress::parse(text)->is_loopback()) << text;
}

}  // namespace
}  // namespace headrace::net
