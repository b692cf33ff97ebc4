// TLS by server name, and the PROXY protocol in front of it and behind it, in one process: what
// arrives at the server byte by byte, and what is left of clients that do not come so far.
#include <string>

#include "hello_bytes.h"
#include "preface/client_hello.h"
#include "preface/proxy_header.h"
#include "preface/tls_alert.h"
#include "worker_fixture.h"

namespace headrace::io {
namespace {

using End = PlainSocket::End;
using preface::Alert;
using preface::ClientHelloReader;

std::string alert(Alert alert) {
  std::string out;
  preface::append_alert(out, alert);
  return out;
}

class SniTest : public WorkerTest {
 protected:
  explicit SniTest(Time time = Time::real) : WorkerTest(time, "127.0.0.1 o.example.test\n") {}

  session::ListenerOptions options() {
    session::ListenerOptions options = options_for(session::Protocol::sni);
    options.to_port = server.endpoint().port;
    return options;
  }
  bool ends(PlainSocket& socket) {
    return run_until([&] { return socket.end() != End::open; });
  }
  uint64_t refused(Errc what) { return worker().stats.refused[static_cast<size_t>(what)].value(); }

  const std::string hello = preface::hello_for("o.example.test");
  PlainListener server;
};

TEST_F(SniTest, passes_a_hello_that_comes_byte_by_byte_and_keeps_half_close) {
  Front& front = listen(options());
  PlainSocket client = PlainSocket::connect_to(front.endpoint);
  for (const char byte : hello) {
    client.send({&byte, 1});
    run_for(std::chrono::microseconds(100));
  }
  PlainSocket upstream = accept_from(server);
  ASSERT_TRUE(run_until([&] { return upstream.received() == hello; }));
  client.shut_writes();
  ASSERT_TRUE(ends(upstream));
  EXPECT_EQ(upstream.end(), End::clean);
  upstream.send("answer");
  ASSERT_TRUE(run_until([&] { return client.received() == "answer"; }));
  upstream.shut_writes();
  ASSERT_TRUE(ends(client));
  EXPECT_EQ(client.end(), End::clean);
}

TEST_F(SniTest, counts_the_hello_as_what_went_up) {
  Front& front = listen(options());
  PlainSocket client = PlainSocket::connect_to(front.endpoint);
  client.send(hello + "12345");
  PlainSocket upstream = accept_from(server);
  ASSERT_TRUE(run_until([&] { return upstream.received() == hello + "12345"; }));
  upstream.close();
  client.close();
  ASSERT_TRUE(run_until([&] { return !log.access_lines.empty(); }));
  const std::string up = "up=" + std::to_string(hello.size() + 5);
  EXPECT_NE(log.access_lines[0].find(up), std::string::npos) << log.access_lines[0];
  EXPECT_EQ(worker().stats.bytes_up.value(), hello.size() + 5);
}

TEST_F(SniTest, every_refusal_is_told_and_counted) {
  Front& front = listen(options());
  const struct {
    std::string sent;
    std::string told;
    Errc why;
  } kCases[] = {
      {preface::record(preface::hello_message("")), alert(Alert::missing_extension),
       Errc::name_missing},
      {preface::hello_for("127.0.0.1"), alert(Alert::missing_extension), Errc::name_missing},
      {preface::hello_for("a b"), alert(Alert::illegal_parameter), Errc::malformed},
      {preface::record(preface::handshake("", 2)), alert(Alert::decode_error), Errc::malformed},
      {preface::hello_for("256.256.256.256"), alert(Alert::illegal_parameter), Errc::malformed},
      {std::string("GET / HTTP/1.1\r\n\r\n"), "", Errc::malformed},
  };
  for (const auto& [sent, told, why] : kCases) {
    const uint64_t before = refused(why);
    PlainSocket client = PlainSocket::connect_to(front.endpoint);
    client.send(sent);
    ASSERT_TRUE(ends(client)) << sent;
    EXPECT_EQ(client.received(), told) << sent;
    EXPECT_EQ(refused(why), before + 1) << sent;
  }
}

TEST_F(SniTest, a_client_that_goes_while_its_server_is_dialled_leaves_nothing) {
  Front& front = listen(options());
  for (const bool abruptly : {false, true}) {
    PlainSocket client = PlainSocket::connect_to(front.endpoint);
    client.send(hello);
    run_for(std::chrono::milliseconds(1));
    if (abruptly)
      client.reset();
    else
      client.close();
  }
  run_for(std::chrono::milliseconds(20));
}

class SniDeadlineTest : public SniTest {
 protected:
  SniDeadlineTest() : SniTest(Time::manual) {}
};

TEST_F(SniDeadlineTest, bytes_that_trickle_do_not_move_the_deadline) {
  session::ListenerOptions wanted = options();
  wanted.accept_proxy_protocol = {*IpNetwork::parse("127.0.0.1")};
  wanted.setup_timeout = std::chrono::seconds(10);
  Front& front = listen(wanted);
  PlainSocket client = PlainSocket::connect_to(front.endpoint);
  ASSERT_TRUE(run_until([&] { return worker().session_count() == 1; }));
  for (const char byte : std::string("PROXY TCP")) {
    advance(std::chrono::seconds(1));
    client.send({&byte, 1});
    run_for(std::chrono::milliseconds(2));
    ASSERT_EQ(client.end(), End::open);
  }
  advance(std::chrono::seconds(2));
  ASSERT_TRUE(ends(client));
  EXPECT_EQ(client.end(), End::reset);
  EXPECT_EQ(refused(Errc::timed_out), 1u);
}

TEST_F(SniTest, a_told_client_is_told_on_with_the_name) {
  session::ListenerOptions wanted = options();
  wanted.accept_proxy_protocol = {*IpNetwork::parse("127.0.0.0/8")};
  wanted.send_proxy_protocol = preface::ProxyProtocol::v2;
  Front& front = listen(wanted);
  // On this host, or it could not get to a server on loopback.
  const preface::ConnectionEnds ends{address("127.0.0.77"), address("192.0.2.1"), 4242, 443};
  std::string in;
  preface::append_proxy_header1(in, ends);
  std::string tlvs;
  preface::append_tlv(tlvs, preface::TlvType::authority, "o.example.test");
  std::string out;
  preface::append_proxy_header2(out, ends, tlvs);

  PlainSocket client = PlainSocket::connect_to(front.endpoint);
  client.send(in + hello);
  PlainSocket upstream = accept_from(server);
  ASSERT_TRUE(run_until([&] { return upstream.received() == out + hello; }));
  EXPECT_EQ(worker().stats.bytes_up.value(), hello.size()) << "the header is ours";
}

}  // namespace
}  // namespace headrace::io
