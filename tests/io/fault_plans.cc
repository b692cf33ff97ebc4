#include "fault_plans.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "plain_socket.h"

namespace headrace::io {
namespace {

using Random = std::mt19937_64;

bool one_in(Random& random, unsigned n) {
  return random() % n == 0;
}

// Mostly small, now and then enough to be spliced and to fill what lies in between.
size_t some_size(Random& random) {
  constexpr size_t kMaxima[] = {1, 100, 5'000, 5'000, 40'000, 70'000, 200'000};
  return random() % kMaxima[random() % std::size(kMaxima)];
}

unsigned some_of(Random& random, std::initializer_list<unsigned> values) {
  return *(values.begin() + random() % values.size());
}

size_t some_pace(Random& random) {
  return one_in(random, 5) ? 500 + random() % 8'000 : 0;
}

TunnelPlan make_tunnel(Random& random, uint64_t id) {
  TunnelPlan plan;
  plan.id = id;
  plan.way = static_cast<TunnelPlan::Way>(random() % 4);
  plan.ending = static_cast<TunnelPlan::Ending>(random() % 5);
  plan.up_bytes = some_size(random);
  plan.down_bytes = some_size(random);
  plan.reset_after_bytes =
      random() %
      (1 + (plan.ending == TunnelPlan::Ending::client_resets ? plan.down_bytes : plan.up_bytes));
  plan.by_name = one_in(random, 3);
  plan.mixed = one_in(random, 2);
  plan.eager = one_in(random, 2);
  plan.client_reads = some_pace(random);
  plan.upstream_reads = some_pace(random);
  return plan;
}

RequestPlan make_request(Random& random, uint64_t id) {
  using Manner = RequestPlan::Manner;
  constexpr const char* kMethods[] = {"GET", "GET", "HEAD", "POST", "POST"};
  RequestPlan plan;
  plan.id = id;
  plan.method = kMethods[random() % std::size(kMethods)];
  if (plan.method == "POST") plan.body = static_cast<RequestPlan::Body>(1 + random() % 2);
  if (plan.body != RequestPlan::Body::none) plan.up_bytes = some_size(random);
  plan.answer = static_cast<RequestPlan::Answer>(random() % 4);
  plan.down_bytes = some_size(random);
  plan.interim = one_in(random, 4);
  plan.by_name = one_in(random, 3);
  plan.manner = one_in(random, 2) ? Manner::proper : static_cast<Manner>(random() % 6);
  if (plan.method == "HEAD" && plan.answer != RequestPlan::Answer::none)
    plan.answer = RequestPlan::Answer::length;
  // What has no body cannot be cut, and what has no length has no end but that of the connection.
  if (plan.method == "HEAD" || plan.answer == RequestPlan::Answer::none || plan.down_bytes == 0)
    if (plan.is_cut()) plan.manner = Manner::proper;
  if (plan.answer == RequestPlan::Answer::until_close && plan.manner == Manner::cut_by_end)
    plan.manner = Manner::cut_by_reset;
  return plan;
}

}  // namespace

RoundPlan::RoundPlan(uint64_t seed_in) : seed(seed_in) {
  constexpr size_t kTunnels = 9;
  constexpr size_t kHttpClients = 7;
  constexpr size_t kRequestsMax = 4;
  Random random(seed);
  short_permille = some_of(random, {50, 150, 400});
  again_permille = some_of(random, {50, 100, 300});
  interrupt_permille = some_of(random, {10, 50, 200});
  shortage_permille = seed % 2 == 0 ? some_of(random, {20, 60, 200}) : 0;
  cut_after_turns = seed % 10 == 5 ? 5 + random() % 60 : 0;
  splice = static_cast<relay::SpliceMode>(random() % 3);
  send_buffer_bytes = one_in(random, 3) ? 8 * 1024 : 0;
  uint64_t id = 0;
  for (size_t i = 0; i < kTunnels; ++i) {
    tunnels.push_back(make_tunnel(random, ++id));
    tunnel_by_id[id] = tunnels.back();
  }
  for (size_t i = 0; i < kHttpClients; ++i) {
    HttpPlan& plan = https.emplace_back();
    plan.pipelined = one_in(random, 3);
    plan.mixed = one_in(random, 2);
    plan.hesitates = one_in(random, 2);
    plan.client_reads = some_pace(random);
    for (size_t requests = 1 + random() % kRequestsMax; requests > 0; --requests)
      plan.requests.push_back(make_request(random, ++id));
    bool later_is_cut = false;
    for (auto request = plan.requests.rbegin(); request != plan.requests.rend(); ++request) {
      request->may_be_cut_by_a_later_one = plan.pipelined && later_is_cut;
      later_is_cut = later_is_cut || request->is_cut();
      request_by_id[request->id] = *request;
    }
  }
}

bool RoundPlan::has_rude_origin() const {
  return std::any_of(request_by_id.begin(), request_by_id.end(), [](const auto& entry) {
    return entry.second.manner == RequestPlan::Manner::closes_unannounced;
  });
}

std::string up_bytes(uint64_t id, size_t bytes) {
  return pattern((2 * id) << 32, bytes);
}
std::string down_bytes(uint64_t id, size_t bytes) {
  return pattern((2 * id + 1) << 32, bytes);
}

std::string as_chunks(const std::string& body) {
  constexpr size_t kChunkBytes = 3'000;
  std::string text;
  for (size_t at = 0; at < body.size(); at += kChunkBytes) {
    const std::string chunk = body.substr(at, kChunkBytes);
    char size[24];
    std::snprintf(size, sizeof(size), "%zx\r\n", chunk.size());
    text += size + chunk + "\r\n";
  }
  return text + "0\r\n\r\n";
}

ChunkReader::State ChunkReader::take(std::string& in, std::string& body) {
  for (;;) {
    const size_t line = in.find("\r\n");
    if (line == std::string::npos) return in.size() > 20 ? State::wrong : State::more;
    char* end = nullptr;
    const size_t size = std::strtoul(in.c_str(), &end, 16);
    if (end != in.c_str() + line || line == 0) return State::wrong;
    const size_t whole = line + 2 + size + 2;
    if (in.size() < whole) return State::more;
    if (in.compare(whole - 2, 2, "\r\n") != 0) return State::wrong;
    body.append(in, line + 2, size);
    in.erase(0, whole);
    if (size == 0) return State::ended;
  }
}

}  // namespace headrace::io
