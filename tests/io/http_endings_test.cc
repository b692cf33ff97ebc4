// How long an answer is waited for, and what becomes of an answer when its connection ends.
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

// A client that takes its time, and a kernel in front of it that holds a whole answer.
class SlowClientTest : public HttpTest {
 protected:
  explicit SlowClientTest(Time time = Time::real) : HttpTest(time) {
    Front& front = listen(options_for(session::Protocol::http), {0, 1024 * 1024});
    client = PlainSocket::connect_to(front.endpoint, {4 * 1024, 0});
  }
  // Reads on until the connection ends, and says how.
  End read_slowly() {
    EXPECT_TRUE(run_until([&] {
      client.receive(1024);
      return client.end_seen() != End::open;
    }));
    return client.end_seen();
  }

  const std::string body = pattern(0, 100'000);
  PlainSocket client;
};

TEST_F(SlowClientTest, an_answer_arrives_whole_before_the_reset_that_cuts_the_next_one) {
  client.send(head("GET") + head("GET"));
  PlainSocket upstream = accept_from(origin);
  ASSERT_TRUE(gets(upstream, "\r\n\r\n"));
  upstream.send(answer(body));
  ASSERT_TRUE(gets(upstream, "\r\n\r\n"));
  upstream.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\npart");
  ASSERT_TRUE(run_until([&] { return worker().mover.copied_bytes > 0 || upstream.flush(); }));
  run_for(milliseconds(5));
  upstream.reset();
  run_for(milliseconds(5));
  EXPECT_EQ(read_slowly(), End::reset);
  const std::string received = client.take();
  EXPECT_NE(received.find("\r\n\r\n" + body + "HTTP/1.1 200 OK\r\n"), std::string::npos)
      << "the first answer was cut, too: " << received.size() << " bytes in all";
}

TEST_F(SlowClientTest, a_client_that_takes_nothing_is_reset_all_the_same) {
  client.send(head("GET"));
  PlainSocket upstream = accept_from(origin);
  ASSERT_TRUE(gets(upstream, "\r\n\r\n"));
  upstream.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n" + body);
  run_for(milliseconds(5));
  upstream.reset();
  EXPECT_TRUE(run_until([&] { return worker().session_count() == 0; }));
  EXPECT_EQ(read_slowly(), End::reset);
}

class LingerTest : public SlowClientTest {
 protected:
  LingerTest() : SlowClientTest(Time::manual) {
    client.send(head("GET"));
    PlainSocket upstream = accept_from(origin);
    EXPECT_TRUE(gets(upstream, "\r\n\r\n"));
    upstream.send("HTTP/1.1 200 OK\r\n\r\n" + body);
    EXPECT_TRUE(run_until([&] { return upstream.flush(); }));
    upstream.close();
    EXPECT_TRUE(run_until([&] { return worker().stats.requests.value() == 1; }));
  }
  void let_pass(net::Duration time) {
    advance(time);
    run_for(milliseconds(2));
  }
};

// What it sends in the meantime must not turn the end into a reset.
TEST_F(LingerTest, a_slow_client_gets_its_last_answer_whole) {
  for (int i = 0; i < 10; ++i) {
    let_pass(seconds(1));
    client.send("too late");
  }
  EXPECT_EQ(read_slowly(), End::clean);
  EXPECT_TRUE(client.take().ends_with("\r\n\r\n" + body));
  EXPECT_EQ(worker().session_count(), 1u) << "ended before everything had arrived";
  run_for(milliseconds(100));  // a kernel may take 40 to acknowledge an end
  let_pass(seconds(2));
  EXPECT_EQ(worker().session_count(), 0u);
}

TEST_F(LingerTest, a_client_that_never_reads_is_left_in_the_end) {
  for (int i = 0; i < 20 && worker().session_count() != 0; ++i) let_pass(seconds(1));
  EXPECT_EQ(worker().session_count(), 0u);
}

TEST_F(LingerTest, a_client_that_closes_is_not_waited_for) {
  client.close();
  EXPECT_TRUE(run_until([&] { return worker().session_count() == 0; }));
}

}  // namespace
}  // namespace headrace::io
