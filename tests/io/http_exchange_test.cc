// Requests and answers on their way at once, against clients that do not take what they asked for.
#include "http_fixture.h"

namespace headrace::io {
namespace {

using End = PlainSocket::End;

// The client's side is full: what comes next for it has to wait in the program.
class FullClientTest : public HttpTest {
 protected:
  FullClientTest() {
    Front& front = listen(options_for(session::Protocol::http), {0, 8 * 1024});
    client = PlainSocket::connect_to(front.endpoint, {4 * 1024, 0});
    client.send(head("GET") + head("GET"));
    upstream = accept_from(origin);
    EXPECT_TRUE(gets(upstream, "\r\n\r\n"));
    upstream.send(answer(first_body));
    // The next request goes out when the first answer has been taken by the kernel, all of it.
    EXPECT_TRUE(run_until([&] {
      upstream.flush();
      upstream.receive();
      const bool asked_again = !upstream.take_received().empty();
      if (!asked_again) client.receive(1024);
      return asked_again;
    }));
  }

  const std::string first_body = pattern(0, 100'000);
  // More of interim answers than what the client's socket can have left.
  const std::string interims = [] {
    std::string several;
    for (int i = 0; i < 5; ++i)
      several += "HTTP/1.1 103 Early Hints\r\nLink: " + std::string(12'000, 'x') + "\r\n\r\n";
    return several;
  }();
  PlainSocket client;
  PlainSocket upstream;
};

TEST_F(FullClientTest, interim_answers_that_wait_go_before_the_final_one_that_came_with_them) {
  for (const std::string& final :
       {answer("second"), answer(pattern(9, 50'000)),
        std::string("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n"),
        std::string("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nuntil the end")}) {
    upstream.send(interims + final);
    if (final.find("close") != std::string::npos) upstream.close();
    const std::string_view body = std::string_view(final).substr(final.find("\r\n\r\n"));
    ASSERT_TRUE(run_until([&] {
      if (upstream.is_open()) upstream.flush();
      return client.received().ends_with(body);
    })) << final.substr(0, 100);
    const std::string received = client.take_received();
    EXPECT_NE(received.find("HTTP/1.1 103 "), std::string::npos);
    EXPECT_LT(received.find("HTTP/1.1 103 "), received.rfind("HTTP/1.1 200 "));
    if (upstream.is_open()) {
      client.send(head("GET"));
      ASSERT_TRUE(gets(upstream, "\r\n\r\n"));
    }
  }
}

TEST_F(FullClientTest, an_upstream_that_dies_behind_interim_answers_is_told_behind_them) {
  upstream.send(interims);
  run_for(std::chrono::milliseconds(5));
  upstream.reset();
  ASSERT_TRUE(run_until([&] { return client.end() != End::open; }));
  EXPECT_EQ(client.end(), End::clean);
  const size_t refusal = client.received().find("HTTP/1.1 502 ");
  ASSERT_NE(refusal, std::string::npos);
  EXPECT_TRUE(client.received().substr(0, refusal).ends_with("\r\n\r\n"));
}

TEST_F(FullClientTest, interim_answers_that_wait_go_before_a_change_of_protocol) {
  upstream.send(answer("second"));
  ASSERT_TRUE(gets(client, "second"));
  client.send(head("GET", "Connection: Upgrade\r\nUpgrade: chat\r\n"));
  ASSERT_TRUE(gets(upstream, "\r\n\r\n"));
  upstream.send(interims +
                "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: chat\r\n\r\n" +
                "hello");
  ASSERT_TRUE(run_until([&] { return client.received().ends_with("\r\n\r\nhello"); }));
  const std::string& all = client.received();
  EXPECT_EQ(all.find("HTTP/1.1 103 "), 0u);
  size_t heads = 0;
  for (size_t at = 0; at != std::string::npos; at = all.find("HTTP/1.1 ", at + 1), ++heads)
    EXPECT_TRUE(at == 0 || all.substr(at - 4, 4) == "\r\n\r\n") << "in the middle of another";
  EXPECT_EQ(heads, 6u);
}

// Half of an interim answer has gone: the client would read a refusal as the rest of it.
TEST_F(FullClientTest, a_fault_found_while_interim_answers_wait_cuts_the_client) {
  upstream.send(interims + "this is not HTTP\r\n\r\n");
  ASSERT_TRUE(run_until([&] { return worker().session_count() == 0; }));
  ASSERT_TRUE(run_until([&] { return client.end() != End::open; }));
  EXPECT_EQ(client.end(), End::reset);
  EXPECT_EQ(client.received().find("HTTP/1.1 502 "), std::string::npos);
}

}  // namespace
}  // namespace headrace::io
