// What the HTTP parser and writer cost per message, without any I/O: a request as curl sends it,
// one as a browser does (1 KB), its answer, and chunked bodies.
//
//     cmake --build build/release --target http_bench && build/release/bench/micro/http_bench
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "base/check.h"
#include "http/authorization.h"
#include "http/chunked.h"
#include "http/rewrite.h"

namespace headrace::http {
namespace {

constexpr std::string_view kCurl =
    "GET http://origin.example.test/1k HTTP/1.1\r\nHost: origin.example.test\r\n"
    "User-Agent: curl/7.88.1\r\nAccept: */*\r\nProxy-Connection: Keep-Alive\r\n\r\n";

std::string browser_request() {
  return "GET http://origin.example.test/assets/app/main.js?v=20240101 HTTP/1.1\r\n"
         "Host: origin.example.test\r\nProxy-Connection: keep-alive\r\n"
         "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
         "Chrome/120.0.0.0 Safari/537.36\r\nAccept: */*\r\n"
         "Referer: http://origin.example.test/index.html\r\nAccept-Encoding: gzip, deflate\r\n"
         "Accept-Language: de-DE,de;q=0.9,en-US;q=0.8,en;q=0.7\r\nCookie: session=" +
         std::string(400, 'c') +
         "; theme=dark\r\nIf-None-Match: \"65920080-267\"\r\n"
         "If-Modified-Since: Mon, 01 Jan 2024 00:00:00 GMT\r\n\r\n";
}

constexpr std::string_view kAnswer =
    "HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: Mon, 01 Jan 2024 00:00:00 GMT\r\n"
    "Content-Type: application/octet-stream\r\nContent-Length: 1024\r\n"
    "Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT\r\nConnection: keep-alive\r\n"
    "ETag: \"65920080-267\"\r\nAccept-Ranges: bytes\r\n\r\n";

void parse_request(benchmark::State& state, const std::string& bytes) {
  RequestHead head;
  for (auto _ : state) {
    HeadCursor cursor;
    HeadParse parse = parse_request_head(bytes, cursor, head);
    benchmark::DoNotOptimize(parse.consumed_bytes());
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * bytes.size()));
}
BENCHMARK_CAPTURE(parse_request, curl, std::string(kCurl));
BENCHMARK_CAPTURE(parse_request, browser, browser_request());

// The whole way of a forwarded request: parse, target, framing, connection, loop check, new head.
void forward_request(benchmark::State& state, const std::string& bytes) {
  RequestHead head;
  std::string out;
  for (auto _ : state) {
    HeadCursor cursor;
    HEADRACE_ASSERT(parse_request_head(bytes, cursor, head));
    Result<RequestTarget> target = request_target(head);
    Result<BodyLength> body = request_body(head);
    Result<ConnectionOptions> connection = connection_options(head);
    HEADRACE_ASSERT(target && body && connection && !came_through_us(head, "a1b2c3d4"));
    out.clear();
    append_request_head({head, *target, *connection, *body, "a1b2c3d4"}, out);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * bytes.size()));
}
BENCHMARK_CAPTURE(forward_request, curl, std::string(kCurl));
BENCHMARK_CAPTURE(forward_request, browser, browser_request());

void forward_response(benchmark::State& state) {
  ResponseHead head;
  std::string out;
  for (auto _ : state) {
    HeadCursor cursor;
    HEADRACE_ASSERT(parse_response_head(kAnswer, cursor, head));
    Result<BodyLength> body = response_body(head, "GET");
    Result<ConnectionOptions> connection = connection_options(head);
    HEADRACE_ASSERT(body && connection);
    out.clear();
    append_response_head({head, *connection, *body, "a1b2c3d4"}, out);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * kAnswer.size()));
}
BENCHMARK(forward_response);

// Canonical chunks of the given size, 64 KiB of them a call, as a receive buffer brings them.
void pass_chunks(benchmark::State& state) {
  const size_t chunk_bytes = static_cast<size_t>(state.range(0));
  std::string wire;
  while (wire.size() < 64 * 1024)
    (((wire += ChunkLine(chunk_bytes).text()) += std::string(chunk_bytes, 'd')) += kChunkEnd);
  std::vector<uint8_t> buffer(wire.begin(), wire.end());
  ChunkedBody body(ChunkedBody::Output::chunked);
  for (auto _ : state) {
    ChunkedBody::Step step = body.apply(buffer);
    HEADRACE_ASSERT(step.state == ChunkedBody::State::more);
    benchmark::DoNotOptimize(step.output_bytes);
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * wire.size()));
}
BENCHMARK(pass_chunks)->Arg(100)->Arg(1000)->Arg(8192)->Arg(32768);

void read_credentials(benchmark::State& state) {
  const std::string bytes =
      "GET http://o.test/ HTTP/1.1\r\nHost: o.test\r\n"
      "Proxy-Authorization: Basic YWxpY2U6Y29ycmVjdCBob3JzZSBiYXR0ZXJ5\r\n\r\n";
  RequestHead head;
  HeadCursor cursor;
  HEADRACE_ASSERT(parse_request_head(bytes, cursor, head));
  std::string scratch;
  for (auto _ : state) {
    Result<Credentials> credentials = proxy_credentials(head, scratch);
    benchmark::DoNotOptimize(credentials);
  }
}
BENCHMARK(read_credentials);

}  // namespace
}  // namespace headrace::http
