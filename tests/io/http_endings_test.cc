// How long an answer is waited for.
#include "http_fixture.h"

namespace headrace::io {
namespace {

using End = PlainSocket::End;
using std::chrono::milliseconds;
using std::chrono::seconds;

class InterimTest : public HttpTest {
 protected:
  InterimTest() : HttpTest(Time::manual) {
    session::ListenerOptions options = options_for(session::Protocol::http);
    options.answer_timeout = seconds(10);
    options.idle_timeout = seconds(60);
    client = PlainSocket::connect_to(listen_http(options).endpoint);
    client.send(head("GET"));
    upstream = accept_from(origin);
    EXPECT_TRUE(gets(upstream, "\r\n\r\n"));
  }
  // Time passes, and then the upstream says that it is still at it.
  void process_for(net::Duration time) {
    advance(time);
    run_for(milliseconds(2));
    upstream.send("HTTP/1.1 102 Processing\r\n\r\n");
    run_for(milliseconds(2));
  }

  PlainSocket client;
  PlainSocket upstream;
};

TEST_F(InterimTest, an_upstream_that_says_it_is_at_work_has_more_time) {
  for (int i = 0; i < 5; ++i) process_for(seconds(9));
  upstream.send(answer("done"));
  EXPECT_TRUE(gets(client, "\r\n\r\ndone"));
}

TEST_F(InterimTest, an_upstream_that_says_nothing_else_has_not_for_ever) {
  for (int i = 0; i < 6; ++i) process_for(seconds(9));
  EXPECT_EQ(client.end(), End::open);
  for (int i = 0; i < 3; ++i) process_for(seconds(9));
  ASSERT_TRUE(run_until([&] { return client.end() != End::open; }));
  EXPECT_NE(client.received().find("\r\n\r\nHTTP/1.1 504 "), std::string::npos);
}

TEST_F(InterimTest, silence_after_an_interim_answer_is_silence) {
  process_for(seconds(9));
  advance(seconds(11));  // the answer_timeout that ran when it came
  run_for(milliseconds(2));
  EXPECT_EQ(client.end(), End::open);
  advance(seconds(11));
  ASSERT_TRUE(run_until([&] { return client.end() != End::open; }));
  EXPECT_NE(client.received().find("\r\n\r\nHTTP/1.1 504 "), std::string::npos);
}

}  // namespace
}  // namespace headrace::io
