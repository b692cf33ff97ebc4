#include "origin_http.h"

#include <algorithm>
#include <utility>

#include "answer_head.h"
#include "units.h"

namespace headrace::load {
namespace {

constexpr size_t kFirstBodyBytes = 64 * 1024;

// /b/SIZE and /b/SIZE/OFFSET.
bool parse_path(std::string_view path, OriginRequest& request) {
  if (!path.starts_with("/b/")) return false;
  path.remove_prefix(3);
  const size_t slash = path.find('/');
  const std::optional<uint64_t> size = parse_number<uint64_t>(path.substr(0, slash));
  if (!size) return false;
  request.answer_bytes = *size;
  if (slash == std::string_view::npos) return true;
  const std::optional<uint64_t> offset = parse_number<uint64_t>(path.substr(slash + 1));
  request.offset = offset.value_or(0);
  return offset.has_value();
}

// Absolute form is allowed: a proxy may pass on what it got.
std::string_view path_of(std::string_view target) {
  const size_t scheme = target.find("://");
  if (scheme == std::string_view::npos) return target;
  const size_t path = target.find('/', scheme + 3);
  return path == std::string_view::npos ? "/" : target.substr(path);
}

const char* reason_of(int status) {
  switch (status) {
    case 200:
      return "200 OK";
    case 404:
      return "404 Not Found";
    case 405:
      return "405 Method Not Allowed";
    case 500:
      return "500 Body Differs";
    default:
      return "400 Bad Request";
  }
}

bool parse_fields(std::string_view head, OriginRequest& request) {
  bool well_formed = true;
  for_each_field(head, [&](std::string_view name, std::string_view value) {
    if (equals_ignoring_case(name, "content-length")) {
      const std::optional<uint64_t> length = parse_number<uint64_t>(value);
      well_formed = well_formed && length.has_value();
      request.body_bytes = length.value_or(0);
    } else if (equals_ignoring_case(name, "transfer-encoding")) {
      request.chunked = equals_ignoring_case(value, "chunked");
      well_formed = well_formed && request.chunked;
    } else if (equals_ignoring_case(name, "connection")) {
      if (equals_ignoring_case(value, "close")) request.keep_alive = false;
      if (equals_ignoring_case(value, "keep-alive")) request.keep_alive = true;
    }
  });
  return well_formed;
}

}  // namespace

std::optional<OriginRequest> parse_origin_request(std::string_view head) {
  const std::string_view line = head.substr(0, head.find("\r\n"));
  const size_t method_end = line.find(' ');
  const size_t target_end = line.rfind(' ');
  if (method_end == std::string_view::npos || target_end == method_end) return std::nullopt;
  const std::string_view method = line.substr(0, method_end);
  const std::string_view target = line.substr(method_end + 1, target_end - method_end - 1);
  const std::string_view version = line.substr(target_end + 1);
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return std::nullopt;
  OriginRequest request;
  request.is_http_1_0 = version == "HTTP/1.0";
  request.keep_alive = !request.is_http_1_0;
  if (!parse_fields(head, request)) return std::nullopt;
  if (!parse_path(path_of(target), request)) request.status = 404;
  if (method != "GET" && method != "POST") request.status = 405;
  return request;
}

Served::Outcome HttpServed::serve() {
  turn_left_bytes_ = kServeTurnBytes;
  // What came before and could not be used; then, as long as heads come whole, what lies in
  // scratch.
  std::string held = std::exchange(kept_, {});
  std::string_view bytes = held;
  bool is_emptied = false;
  while (true) {
    while (go_on(bytes)) {
    }
    if (is_over_) return Outcome::over;
    if (phase_ == Phase::answer || is_emptied) break;
    if (!bytes.empty()) held = bytes;
    const IoResult got = stream_.read(shared_.scratch);
    if (got.blocked()) break;
    if (!got.moved()) return Outcome::over;
    is_emptied = is_emptied_by(got.bytes, shared_.scratch.size());
    const std::string_view fresh(reinterpret_cast<const char*>(shared_.scratch.data()), got.bytes);
    bytes = bytes.empty() ? fresh : std::string_view(held += fresh);
  }
  kept_ = bytes;
  const bool is_share_spent = phase_ == Phase::answer && turn_left_bytes_ == 0;
  return is_share_spent ? Outcome::more : Outcome::waiting;
}

bool HttpServed::go_on(std::string_view& bytes) {
  if (is_over_) return false;
  switch (phase_) {
    case Phase::head:
      return take_head(bytes);
    case Phase::body:
      return take_body(bytes);
    case Phase::answer:
      return send_answer();
    case Phase::ending:
      break;
  }
  bytes = {};  // nobody will answer that
  return false;
}

bool HttpServed::take_head(std::string_view& bytes) {
  const size_t end = bytes.find("\r\n\r\n");
  if (end == std::string_view::npos) {
    if (bytes.size() < kHeadBytesMax) return false;
    refuse();
    return true;
  }
  const std::optional<OriginRequest> request = parse_origin_request(bytes.substr(0, end + 2));
  bytes.remove_prefix(end + 4);
  if (!request) {
    refuse();
    return true;
  }
  request_ = *request;
  body_position_ = request_.offset;
  body_is_right_ = true;
  if (request_.chunked) {
    body_.begin_chunked();
  } else {
    body_.begin_length(request_.body_bytes);
  }
  phase_ = Phase::body;
  if (body_.state() == RequestBody::State::complete) begin_answer();
  return true;
}

bool HttpServed::take_body(std::string_view& bytes) {
  if (bytes.empty()) return false;
  std::string_view piece;
  const RequestBody::State state = body_.take(bytes, piece);
  const std::span<const uint8_t> content(reinterpret_cast<const uint8_t*>(piece.data()),
                                         piece.size());
  body_is_right_ = body_is_right_ && shared_.pattern.matches(body_position_, content);
  body_position_ += piece.size();
  shared_.counts.bytes_in += piece.size();
  if (state == RequestBody::State::malformed) refuse();
  if (state == RequestBody::State::complete) begin_answer();
  return true;
}

// Answers 400 and closes: what follows cannot be framed.
void HttpServed::refuse() {
  request_ = {};
  request_.status = 400;
  request_.keep_alive = false;
  body_is_right_ = true;
  ++shared_.counts.bad_requests;
  begin_answer();
}

void HttpServed::begin_answer() {
  ++shared_.counts.requests;
  if (!body_is_right_) {
    ++shared_.counts.wrong_bodies;
    request_.status = 500;
  }
  if (request_.status != 200) request_.answer_bytes = 0;
  answer_head_ = "HTTP/1.1 ";
  answer_head_ += reason_of(request_.status);
  answer_head_ += "\r\nContent-Type: application/octet-stream\r\nContent-Length: ";
  answer_head_ += std::to_string(request_.answer_bytes);
  if (!request_.keep_alive) answer_head_ += "\r\nConnection: close";
  if (request_.keep_alive && request_.is_http_1_0) answer_head_ += "\r\nConnection: keep-alive";
  answer_head_ += "\r\n\r\n";
  answer_sent_bytes_ = 0;
  phase_ = Phase::answer;
}

bool HttpServed::send_answer() {
  const uint64_t total = answer_head_.size() + request_.answer_bytes;
  while (answer_sent_bytes_ < total) {
    if (turn_left_bytes_ == 0) return false;
    IoResult sent;
    if (answer_sent_bytes_ < answer_head_.size()) {
      const auto* head = reinterpret_cast<const uint8_t*>(answer_head_.data());
      const size_t first_body = std::min<uint64_t>(request_.answer_bytes, kFirstBodyBytes);
      sent = stream_.write(std::span(head, answer_head_.size()).subspan(answer_sent_bytes_),
                           {shared_.pattern.at(request_.offset), first_body});
    } else {
      const uint64_t body_sent = answer_sent_bytes_ - answer_head_.size();
      const uint64_t left = std::min<uint64_t>(request_.answer_bytes - body_sent, turn_left_bytes_);
      sent = stream_.write_pattern(shared_.pattern, request_.offset + body_sent, left);
    }
    if (sent.blocked()) return false;
    if (!sent.moved()) {
      is_over_ = true;
      return false;
    }
    answer_sent_bytes_ += sent.bytes;
    turn_left_bytes_ -= std::min(turn_left_bytes_, sent.bytes);
  }
  shared_.counts.bytes_out += request_.answer_bytes;
  phase_ = Phase::head;
  if (!request_.keep_alive) end_after_answer();
  return request_.keep_alive;
}

// A socket closed with bytes unread resets the connection, and the answer with it. A TLS client's
// close_notify are such bytes: there we say that it is the end and wait for the client's.
void HttpServed::end_after_answer() {
  if (stream_.is_tls()) {
    stream_.shut_writes();
    phase_ = Phase::ending;
  } else {
    is_over_ = true;
  }
}

}  // namespace headrace::load
