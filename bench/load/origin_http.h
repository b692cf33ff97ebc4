// The origin's HTTP role: /b/SIZE[/OFFSET] of the pattern, bodies compared with it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "request_body.h"
#include "served.h"

namespace headrace::load {

// What a request asks of us.
struct OriginRequest {
  uint64_t answer_bytes = 0;
  uint64_t offset = 0;
  bool keep_alive = true;
  bool is_http_1_0 = false;
  bool chunked = false;
  uint64_t body_bytes = 0;
  int status = 200;
};

// From a complete head (with its empty line); nothing when it is no HTTP at all.
std::optional<OriginRequest> parse_origin_request(std::string_view head);

class HttpServed final : public Served {
 public:
  using Served::Served;

 private:
  enum class Phase : uint8_t { head, body, answer, ending };

  Outcome serve() override;
  // Each takes what it needs off the front of the bytes; false when it cannot go on: it needs more
  // bytes, the stream would block, the turn's share is spent, or the connection is over.
  bool go_on(std::string_view& bytes);
  bool take_head(std::string_view& bytes);
  bool take_body(std::string_view& bytes);
  bool send_answer();
  void begin_answer();
  void refuse();
  void end_after_answer();

  Phase phase_ = Phase::head;
  OriginRequest request_;
  RequestBody body_;
  uint64_t body_position_ = 0;
  bool body_is_right_ = true;
  std::string kept_;  // bytes that came but could not be used yet
  std::string answer_head_;
  uint64_t answer_sent_bytes_ = 0;  // of head and body
  size_t turn_left_bytes_ = 0;
  bool is_over_ = false;
};

}  // namespace headrace::load
