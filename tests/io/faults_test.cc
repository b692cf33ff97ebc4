// Mixed traffic while system calls fail by seed: short reads and writes, EAGAIN, EINTR, and in
// every second seed also a lack of descriptors, memory and ports. What completes must be right to
// the last byte; what does not must not look complete; nothing may be left behind
// (worker_fixture.h).
//
//   HEADRACE_FAULT_SEED=17 faults_test      one seed alone
#include <cstdlib>
#include <map>
#include <random>

#include "net/sys_faulty.h"
#include "worker_fixture.h"

namespace headrace::io {
namespace {

constexpr uint64_t kSeeds = 200;

// What `id` sends, never the same for two of them.
std::string payload(uint64_t id, size_t bytes) {
  std::string text(bytes, '\0');
  std::mt19937_64 random(id);
  for (char& c : text) c = static_cast<char>('a' + random() % 26);
  return text;
}

std::string as_chunks(const std::string& body) {
  constexpr size_t kChunkBytes = 3000;
  std::string text;
  for (size_t at = 0; at < body.size(); at += kChunkBytes) {
    const std::string chunk = body.substr(at, kChunkBytes);
    char size[24];
    std::snprintf(size, sizeof(size), "%zx\r\n", chunk.size());
    text += size + chunk + "\r\n";
  }
  return text + "0\r\n\r\n";
}

// One exchange: how it is carried, and what goes each way.
struct Plan {
  enum class Way : uint8_t { relay, connect, socks5, http_length, http_chunked, http_until_close };

  uint64_t id = 0;
  Way way = Way::relay;
  std::string up;
  std::string down;
  bool client_resets = false;  // after half of what comes down
  bool is_http() const { return way >= Way::http_length; }
};

// Plays the origin for every exchange. A tunnel's first line is "T ID"; anything else is HTTP, the
// id being the path.
class Origin {
 public:
  explicit Origin(const std::map<uint64_t, Plan>& plans) : plans_(plans) {}

  const PlainListener& listener() const { return listener_; }
  // What came up whole, and ended cleanly, for that exchange.
  bool got_all(uint64_t id) const { return complete_.contains(id); }
  bool saw_wrong_bytes() const { return wrong_; }

  void step() {
    while (std::optional<PlainSocket> socket = listener_.accept())
      connections_.push_back({std::move(*socket), "", 0});
    for (Connection& connection : connections_) step(connection);
    std::erase_if(connections_, [](Connection& c) { return !c.socket.is_open(); });
  }
  void close_all() { connections_.clear(); }

 private:
  struct Connection {
    PlainSocket socket;
    std::string unread;
    uint64_t tunnel = 0;
  };

  void step(Connection& c) {
    c.unread += c.socket.take_received();
    c.socket.flush();
    while (c.tunnel == 0 && take_head(c)) {
    }
    const PlainSocket::End end = c.socket.end();
    if (end == PlainSocket::End::open || c.socket.unsent_bytes() != 0) return;
    if (c.tunnel != 0) note_tunnel(c, end);
    c.socket.close();
  }

  void note_tunnel(const Connection& c, PlainSocket::End end) {
    const std::string& expected = plans_.at(c.tunnel).up;
    if (!expected.starts_with(c.unread)) wrong_ = true;
    if (end == PlainSocket::End::clean) {
      if (c.unread == expected)
        complete_[c.tunnel] = true;
      else
        wrong_ = true;  // cut, and looks complete
    }
  }

  // True when something was taken and more may follow.
  bool take_head(Connection& c) {
    if (c.unread.starts_with("T ")) {
      const size_t line = c.unread.find('\n');
      if (line == std::string::npos) return false;
      c.tunnel = std::strtoull(c.unread.c_str() + 2, nullptr, 10);
      c.unread.erase(0, line + 1);
      c.socket.send(plans_.at(c.tunnel).down);
      c.socket.shut_writes();
      return false;
    }
    const size_t head = c.unread.find("\r\n\r\n");
    if (head == std::string::npos) return false;
    const size_t slash = c.unread.find(" /");
    const Plan& plan = plans_.at(std::strtoull(c.unread.c_str() + slash + 2, nullptr, 10));
    const std::string body = plan.way == Plan::Way::http_chunked ? as_chunks(plan.up) : plan.up;
    if (c.unread.size() < head + 4 + body.size()) return false;
    if (c.unread.substr(head + 4, body.size()) != body) wrong_ = true;
    c.unread.erase(0, head + 4 + body.size());
    complete_[plan.id] = true;
    answer(c, plan);
    return true;
  }

  static void answer(Connection& c, const Plan& plan) {
    std::string head = "HTTP/1.1 200 OK\r\n";
    if (plan.way == Plan::Way::http_length)
      c.socket.send(head + "Content-Length: " + std::to_string(plan.down.size()) + "\r\n\r\n" +
                    plan.down);
    if (plan.way == Plan::Way::http_chunked)
      c.socket.send(head + "Transfer-Encoding: chunked\r\n\r\n" + as_chunks(plan.down));
    if (plan.way == Plan::Way::http_until_close) {
      c.socket.send(head + "\r\n" + plan.down);
      c.socket.shut_writes();
    }
  }

  const std::map<uint64_t, Plan>& plans_;
  PlainListener listener_;
  std::vector<Connection> connections_;
  std::map<uint64_t, bool> complete_;
  bool wrong_ = false;
};

// What the client says, all of it at once.
std::string spoken(const Plan& plan, const PlainListener& origin) {
  const std::string tunnelled = "T " + std::to_string(plan.id) + "\n" + plan.up;
  const std::string url = "http://" + origin.name() + "/" + std::to_string(plan.id);
  const std::string rest = " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n";
  switch (plan.way) {
    case Plan::Way::relay:
      return tunnelled;
    case Plan::Way::connect:
      return "CONNECT " + origin.name() + " HTTP/1.1\r\nHost: x\r\n\r\n" + tunnelled;
    case Plan::Way::socks5: {
      std::string text("\x05\x01\x00\x05\x01\x00\x01\x7f\x00\x00\x01", 11);
      text += static_cast<char>(origin.port() >> 8);
      text += static_cast<char>(origin.port() & 0xff);
      return text + tunnelled;
    }
    case Plan::Way::http_chunked:
      return "POST " + url + rest + "Transfer-Encoding: chunked\r\n\r\n" + as_chunks(plan.up);
    case Plan::Way::http_length:
    case Plan::Way::http_until_close:
      return "POST " + url + rest + "Content-Length: " + std::to_string(plan.up.size()) +
             "\r\n\r\n" + plan.up;
  }
  return {};
}

enum class Outcome : uint8_t { complete, refused, cut, wrong };

// What the client got: the front's own words taken off, is the rest what the origin sent?
Outcome judge(const Plan& plan, std::string got, PlainSocket::End end) {
  const bool clean = end == PlainSocket::End::clean;
  std::string expected = plan.down;
  if (plan.way == Plan::Way::socks5) {
    constexpr size_t kReplies = 12;
    if (got.size() >= 4 && got[3] != 0) return Outcome::refused;
    if (got.size() < kReplies) return clean && got.size() > 2 ? Outcome::wrong : Outcome::cut;
    got.erase(0, kReplies);
  }
  if (plan.way == Plan::Way::connect || plan.is_http()) {
    const size_t head = got.find("\r\n\r\n");
    if (head == std::string::npos) return Outcome::cut;
    if (!got.starts_with("HTTP/1.1 200")) return Outcome::refused;
    got.erase(0, head + 4);
    if (plan.way == Plan::Way::http_chunked) expected = as_chunks(plan.down);
  }
  if (!expected.starts_with(got)) return Outcome::wrong;
  if (got == expected && clean) return Outcome::complete;
  return clean ? Outcome::wrong : Outcome::cut;
}

class FaultsTest : public WorkerTest, public testing::WithParamInterface<uint64_t> {
 protected:
  struct Client {
    const Plan* plan;
    PlainSocket socket;
    std::string got;
    std::optional<Outcome> outcome;
    bool has_reset = false;
  };

  ~FaultsTest() override { net::sys::set_fault_plan({}); }

  bool lacks() const { return GetParam() % 2 == 0; }

  void make_plans(std::mt19937_64& random) {
    constexpr uint64_t kExchanges = 16;
    for (uint64_t i = 1; i <= kExchanges; ++i) {
      Plan plan;
      plan.id = i;
      plan.way = static_cast<Plan::Way>(random() % 6);
      plan.up = payload(2 * i, random() % (1u << (random() % 18)));
      plan.down = payload(2 * i + 1, random() % (1u << (random() % 19)));
      plan.client_resets = random() % 8 == 0;
      plans_[i] = std::move(plan);
    }
  }

  void inject() const {
    net::sys::FaultPlan faults;
    faults.seed = GetParam();
    faults.short_permille = 150;
    faults.again_permille = 100;
    faults.interrupt_permille = 50;
    faults.shortage_permille = lacks() ? 60 : 0;
    net::sys::set_fault_plan(faults);
  }

  bool step(std::vector<Client>& clients, Origin& origin) {
    origin.step();
    bool all = true;
    for (Client& client : clients) {
      if (client.outcome || client.has_reset) continue;
      client.socket.flush();
      client.got += client.socket.take_received();
      if (client.plan->client_resets && client.got.size() * 2 > client.plan->down.size()) {
        client.socket.reset();
        client.has_reset = true;
        continue;
      }
      const PlainSocket::End end = client.socket.end();
      client.got += client.socket.take_received();
      const bool still_sending =
          end == PlainSocket::End::clean && client.socket.unsent_bytes() != 0;
      if (end == PlainSocket::End::open || still_sending) {
        all = false;
        continue;
      }
      client.outcome = judge(*client.plan, client.got, end);
      client.socket.close();
    }
    return all;
  }

  std::map<uint64_t, Plan> plans_;
};

TEST_P(FaultsTest, what_completes_is_right_and_what_does_not_is_seen_to_be_cut) {
  std::mt19937_64 random(GetParam());
  make_plans(random);
  Origin origin(plans_);
  const auto splice = static_cast<relay::SpliceMode>(random() % 3);
  session::ListenerOptions relaying = relay_to(origin.listener().endpoint());
  session::ListenerOptions http = options_for(session::Protocol::http);
  session::ListenerOptions socks = options_for(session::Protocol::socks);
  relaying.splice = http.splice = socks.splice = splice;
  const net::Endpoint relay_at = listen(std::move(relaying)).endpoint;
  const net::Endpoint http_at = listen(std::move(http)).endpoint;
  const net::Endpoint socks_at = listen(std::move(socks)).endpoint;

  inject();
  std::vector<Client> clients;
  for (const auto& [id, plan] : plans_) {
    const net::Endpoint& at = plan.way == Plan::Way::relay    ? relay_at
                              : plan.way == Plan::Way::socks5 ? socks_at
                                                              : http_at;
    Client& client = clients.emplace_back();
    client.plan = &plan;
    client.socket = PlainSocket::connect_to(at);
    client.socket.send(spoken(plan, origin.listener()));
    if (!plan.is_http()) client.socket.shut_writes();
  }
  EXPECT_TRUE(run_until([&] { return step(clients, origin); })) << "hangs, seed " << GetParam();
  // What went up may arrive after what came down.
  EXPECT_TRUE(run_until([&] {
    origin.step();
    return worker().session_count() == 0;
  })) << "sessions stay, seed "
      << GetParam();
  EXPECT_FALSE(origin.saw_wrong_bytes()) << "seed " << GetParam();
  for (const Client& client : clients) {
    if (!client.outcome || client.has_reset) continue;
    const auto way = static_cast<int>(client.plan->way);
    EXPECT_NE(*client.outcome, Outcome::wrong)
        << "seed " << GetParam() << " exchange " << client.plan->id << " way " << way;
    if (!lacks()) {
      EXPECT_EQ(*client.outcome, Outcome::complete)
          << "seed " << GetParam() << " exchange " << client.plan->id << " way " << way;
    }
    if (*client.outcome == Outcome::complete) {
      EXPECT_TRUE(origin.got_all(client.plan->id))
          << "seed " << GetParam() << " exchange " << client.plan->id << " way " << way;
    }
  }
  EXPECT_GT(net::sys::injected_faults(), 0u);
  clients.clear();
  origin.close_all();
  run_until([&] { return worker().session_count() == 0; });
  net::sys::set_fault_plan({});
}

uint64_t first_seed() {
  const char* seed = std::getenv("HEADRACE_FAULT_SEED");
  return seed ? std::strtoull(seed, nullptr, 10) : 1;
}

INSTANTIATE_TEST_SUITE_P(
    seeds, FaultsTest,
    testing::Range(first_seed(), first_seed() + (std::getenv("HEADRACE_FAULT_SEED") ? 1 : kSeeds)));

}  // namespace
}  // namespace headrace::io
