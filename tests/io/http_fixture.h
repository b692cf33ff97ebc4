// A forward proxy in front of an origin that a test plays by hand.
#pragma once

#include <string>

#include "worker_fixture.h"

namespace headrace::io {

class HttpTest : public WorkerTest {
 protected:
  explicit HttpTest(Time time = Time::real, const std::string& hosts = "")
      : WorkerTest(time, hosts) {}

  Front& listen_http(session::ListenerOptions options = options_for(session::Protocol::http)) {
    return listen(std::move(options));
  }
  std::string head(const std::string& method, const std::string& more_fields = "") const {
    return method + " http://" + origin.name() + "/ HTTP/1.1\r\nHost: " + origin.name() + "\r\n" +
           more_fields + "\r\n";
  }
  static std::string answer(const std::string& body, const std::string& more_fields = "") {
    return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
           more_fields + "\r\n" + body;
  }

  // Waits until what has come ends with `text`, and takes it.
  bool gets(PlainSocket& socket, const std::string& text) {
    return run_until([&] { return socket.received().ends_with(text); }) &&
           !socket.take_received().empty();
  }
  // One whole exchange; `more_fields` are the answer's.
  bool exchange(PlainSocket& client, PlainSocket& upstream, const std::string& more_fields = "") {
    client.send(head("GET"));
    if (!gets(upstream, "\r\n\r\n")) return false;
    upstream.send(answer("done", more_fields));
    return gets(client, "\r\n\r\ndone");
  }
  // The same over a connection that nobody has opened yet.
  PlainSocket first_exchange(PlainSocket& client, const std::string& more_fields = "") {
    client.send(head("GET"));
    PlainSocket upstream = accept_from(origin);
    EXPECT_TRUE(gets(upstream, "\r\n\r\n"));
    upstream.send(answer("done", more_fields));
    EXPECT_TRUE(gets(client, "\r\n\r\ndone"));
    return upstream;
  }
  bool ends(PlainSocket& socket) {
    return run_until([&] { return socket.end() != PlainSocket::End::open; });
  }
  session::OriginPool& pool() { return worker().pool; }

  PlainListener origin;
};

}  // namespace headrace::io
