#include "request_head.h"

#include <charconv>

#include "tunnel.h"

namespace headrace::load {
namespace {

void append_number(std::string& text, uint64_t number) {
  char digits[20];
  const auto [end, fault] = std::to_chars(digits, digits + sizeof(digits), number);
  text.append(digits, end);
}

}  // namespace

RequestHeads::RequestHeads(const ClientOptions& options) : fixed_path_(options.path) {
  common_fields_ = " HTTP/1.1\r\nHost: " + options.target + "\r\n";
  if (options.mode != Mode::http) return;
  uri_prefix_ = "http://" + options.target;
  if (!options.user.empty()) {
    common_fields_ += "Proxy-Authorization: " + basic_authorization(options.user) + "\r\n";
  }
}

const std::string& RequestHeads::make(const ExchangeSpec& spec) {
  head_ = spec.body_bytes > 0 ? "POST " : "GET ";
  head_ += uri_prefix_;
  if (fixed_path_.empty()) {
    head_ += "/b/";
    append_number(head_, spec.answer_bytes);
    head_ += '/';
    append_number(head_, spec.offset);
  } else {
    head_ += fixed_path_;
  }
  head_ += common_fields_;
  if (spec.body_bytes > 0) {
    head_ += "Content-Length: ";
    append_number(head_, spec.body_bytes);
    head_ += "\r\n";
  }
  if (spec.last) head_ += "Connection: close\r\n";
  head_ += "\r\n";
  return head_;
}

}  // namespace headrace::load
