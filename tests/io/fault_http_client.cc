#include <cstdlib>
#include <ostream>
#include <utility>

#include "fault_clients.h"

namespace headrace::io {
namespace {

using End = PlainSocket::End;
using Answer = RequestPlan::Answer;

// A client that follows what answers say about the connection: where one ends it, the requests that
// are left go over another.
class HttpClient final : public FaultClient {
 public:
  HttpClient(const HttpPlan& plan, const Places& places) : plan_(plan), places_(places) {
    connect();
  }

  bool finished() const override { return next_ == plan_.requests.size(); }
  std::string state() const override {
    if (finished()) return "http, finished";
    return "http, request " + std::to_string(request().id) + " " + request().method + " answer " +
           std::to_string(int(request().answer)) + " manner " +
           std::to_string(int(request().manner)) + (in_body_ ? ", body " : ", head ") +
           std::to_string(body_.size()) + " of " + std::to_string(request().down_bytes) +
           ", unsent " + std::to_string(socket_.unsent_bytes());
  }
  void step() override;

 private:
  const RequestPlan& request() const { return plan_.requests[next_]; }
  void connect();
  void say(const std::string& text);
  std::string text_of(const RequestPlan& request) const;
  // One step of reading; false when more has to come.
  bool advance();
  bool take_head();
  bool take_body();
  void complete();
  void take_end(End end);
  void give_up(Outcome outcome, std::string details = {}) {
    conclude(request().id, outcome, std::move(details));
    next_ = plan_.requests.size();
    socket_.close();
  }

  const HttpPlan plan_;
  const Places places_;
  PlainSocket socket_;
  size_t next_ = 0;   // the request whose answer is awaited
  std::string late_;  // still to be said
  int steps_ = 0;     // since something was said
  std::string in_;
  bool in_body_ = false;
  bool closes_ = false;  // the answer says that the connection ends
  bool until_close_ = false;
  bool chunked_ = false;
  bool chunks_ended_ = false;
  size_t length_ = 0;
  std::string body_;
  ChunkReader chunks_;
};

std::string HttpClient::text_of(const RequestPlan& request) const {
  const std::string host = request.by_name ? "o.test:" + std::to_string(places_.origin.port)
                                           : places_.origin.to_string();
  std::string text = request.method + " http://" + host + "/" + std::to_string(request.id) +
                     " HTTP/1.1\r\nHost: " + host + "\r\n";
  const std::string body = up_bytes(request.id, request.up_bytes);
  switch (request.body) {
    case RequestPlan::Body::none:
      return text + "\r\n";
    case RequestPlan::Body::length:
      return text + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    case RequestPlan::Body::chunked:
      return text + "Transfer-Encoding: chunked\r\n\r\n" + as_chunks(body);
  }
  return text;
}

void HttpClient::connect() {
  socket_ = PlainSocket::connect_to(plan_.mixed ? places_.mixed : places_.http);
  in_.clear();
  std::string text;
  for (size_t i = next_; i < (plan_.pipelined ? plan_.requests.size() : next_ + 1); ++i)
    text += text_of(plan_.requests[i]);
  late_.clear();
  say(text);
}

void HttpClient::say(const std::string& text) {
  const size_t at_once = plan_.hesitates ? text.size() / 2 : text.size();
  // Behind what is still to be said of the request before.
  if (late_.empty())
    socket_.send(text.substr(0, at_once));
  else
    late_ += text.substr(0, at_once);
  late_ += text.substr(at_once);
  steps_ = 0;
}

void HttpClient::step() {
  if (finished()) return;
  constexpr int kHesitation = 4;
  if (++steps_ > kHesitation) socket_.send(std::exchange(late_, {}));
  socket_.flush();
  socket_.receive(plan_.client_reads == 0 ? SIZE_MAX : plan_.client_reads);
  in_ += socket_.take();
  const End end = socket_.end_seen();
  while (!finished() && advance()) {
  }
  if (!finished() && end != End::open && socket_.end_seen() != End::open) take_end(end);
}

bool HttpClient::advance() {
  return in_body_ ? take_body() : take_head();
}

bool HttpClient::take_head() {
  const size_t end = in_.find("\r\n\r\n");
  if (end == std::string::npos) return false;
  const std::string head = in_.substr(0, end + 4);
  in_.erase(0, end + 4);
  if (!head.starts_with("HTTP/1.1 ")) {
    give_up(Outcome::wrong, "no head: " + head.substr(0, 60));
    return false;
  }
  const int status = std::atoi(head.c_str() + 9);
  if (status == 103) {
    if (head.find("</" + std::to_string(request().id) + ">") == std::string::npos ||
        !request().interim)
      give_up(Outcome::wrong, "another's interim answer");
    return !finished();
  }
  if (status != 200 && status != 204) {
    give_up(Outcome::refused, head.substr(0, head.find('\r')));
    return false;
  }
  const size_t length = head.find("\r\nContent-Length: ");
  const bool bodiless = request().method == "HEAD" || status == 204;
  closes_ = head.find("\r\nConnection: close\r\n") != std::string::npos;
  chunked_ = !bodiless && head.find("\r\nTransfer-Encoding: chunked\r\n") != std::string::npos;
  until_close_ = !bodiless && !chunked_ && length == std::string::npos;
  length_ = bodiless || length == std::string::npos
                ? 0
                : std::strtoul(head.c_str() + length + 18, nullptr, 10);
  chunks_ended_ = false;
  body_.clear();
  in_body_ = true;
  return true;
}

bool HttpClient::take_body() {
  if (chunked_) {
    const ChunkReader::State state = chunks_.take(in_, body_);
    if (state == ChunkReader::State::wrong) {
      give_up(Outcome::wrong, "wrong chunks");
      return false;
    }
    chunks_ended_ = state == ChunkReader::State::ended;
  } else {
    const size_t wanted = until_close_ ? in_.size() : length_ - body_.size();
    body_ += in_.substr(0, wanted);
    in_.erase(0, wanted);
  }
  if (!down_bytes(request().id, request().down_bytes).starts_with(body_)) {
    give_up(Outcome::wrong, "wrong bytes");
    return false;
  }
  const bool whole = chunked_ ? chunks_ended_ : !until_close_ && body_.size() == length_;
  if (!whole) return false;
  complete();
  return !finished();
}

void HttpClient::complete() {
  const bool bodiless = request().method == "HEAD" || request().answer == Answer::none;
  if (!bodiless && body_.size() != request().down_bytes)
    return give_up(Outcome::wrong, "short, and looks whole");
  if (request().is_cut()) return give_up(Outcome::wrong, "the upstream's cut looks whole");
  conclude(request().id, Outcome::complete);
  ++next_;
  in_body_ = false;
  if (finished())
    socket_.close();
  else if (closes_)
    connect();
  else if (!plan_.pipelined)
    say(text_of(request()));
}

void HttpClient::take_end(End end) {
  if (!in_body_) return give_up(Outcome::refused, end == End::clean ? "end" : "reset");
  if (until_close_ && end == End::clean) return complete();
  if (end == End::clean)
    return give_up(Outcome::wrong,
                   "cut at " + std::to_string(body_.size()) + ", and ended cleanly");
  give_up(Outcome::cut);
}

}  // namespace

std::ostream& operator<<(std::ostream& out, Outcome outcome) {
  constexpr const char* kNames[] = {"complete", "refused", "cut", "wrong"};
  return out << kNames[static_cast<size_t>(outcome)];
}

std::unique_ptr<FaultClient> make_client(const HttpPlan& plan, const Places& places) {
  return std::make_unique<HttpClient>(plan, places);
}

}  // namespace headrace::io
