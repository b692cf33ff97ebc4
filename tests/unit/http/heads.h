// Heads as text, for tests: parsed in every delivery, and described so that a failure can be read.
#pragma once

#include <string>
#include <string_view>

#include "delivery.h"
#include "http/head.h"

namespace headrace::http {

inline std::string described(const std::vector<Field>& fields) {
  std::string text;
  for (const Field& field : fields)
    text += " [" + std::string(field.name) + "=" + std::string(field.value) + "]";
  return text;
}
inline std::string described(const RequestHead& head) {
  return std::string(head.method) + " " + std::string(head.target) + " 1." +
         std::to_string(head.minor_version) + described(head.fields);
}
inline std::string described(const ResponseHead& head) {
  return "1." + std::to_string(head.minor_version) + " " + std::to_string(head.status) + " '" +
         std::string(head.reason) + "'" + described(head.fields);
}

inline HeadParse parse_head(std::string_view bytes, HeadCursor& cursor, RequestHead& out) {
  return parse_request_head(bytes, cursor, out);
}
inline HeadParse parse_head(std::string_view bytes, HeadCursor& cursor, ResponseHead& out) {
  return parse_response_head(bytes, cursor, out);
}

// Appends piece by piece and asks again after each, as a connection does. What is described is the
// head and the bytes behind it: "GET / 1.1 [Host=a] then 'rest'", or "malformed", or "more".
template <class Head>
std::string parsed_from(const Pieces& pieces) {
  std::string all;
  for (std::string_view piece : pieces) all += piece;
  HeadCursor cursor;
  Head head;
  size_t came = 0;
  for (std::string_view piece : pieces) {
    came += piece.size();
    // An own allocation of exactly that size: reading behind it shows under AddressSanitizer.
    std::vector<char> bytes(all.begin(), all.begin() + static_cast<ptrdiff_t>(came));
    HeadParse parse = parse_head({bytes.data(), bytes.size()}, cursor, head);
    if (parse.failed()) return std::string(name_of(parse.error()));
    if (!parse) continue;
    std::string text = described(head);
    std::string rest = all.substr(parse.consumed_bytes());
    return rest.empty() ? text : text + " then '" + rest + "'";
  }
  return "more";
}

inline std::string parsed_request(std::string_view bytes) {
  return in_every_delivery(bytes, parsed_from<RequestHead>);
}
inline std::string parsed_response(std::string_view bytes) {
  return in_every_delivery(bytes, parsed_from<ResponseHead>);
}

// A valid head for what is tested behind the parser; `bytes` must outlive it.
template <class Head>
Head head_of(std::string_view bytes) {
  HeadCursor cursor;
  Head head;
  EXPECT_TRUE(parse_head(bytes, cursor, head)) << bytes;
  return head;
}

// A request or answer with these field lines, each ending in CR LF; keeps the bytes.
class Request {
 public:
  explicit Request(std::string_view lines, std::string_view start = "POST http://o.test/ HTTP/1.1")
      : bytes_(std::string(start) + "\r\n" + std::string(lines) + "\r\n"),
        head_(head_of<RequestHead>(bytes_)) {}
  Request(const Request&) = delete;
  const RequestHead& head() const { return head_; }

 private:
  std::string bytes_;
  RequestHead head_;
};

class Response {
 public:
  explicit Response(std::string_view lines, std::string_view start = "HTTP/1.1 200 OK")
      : bytes_(std::string(start) + "\r\n" + std::string(lines) + "\r\n"),
        head_(head_of<ResponseHead>(bytes_)) {}
  Response(const Response&) = delete;
  const ResponseHead& head() const { return head_; }

 private:
  std::string bytes_;
  ResponseHead head_;
};

}  // namespace headrace::http
