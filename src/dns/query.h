// A name on its way: its A and AAAA questions to the name servers, along the searched domains,
// within one limit of time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/ip.h"
#include "base/list.h"
#include "dns/channel.h"
#include "net/loop.h"
#include "net/timer.h"

namespace headrace::dns {

struct QueueTag;

// What is known of one family of a name, and how long that holds.
struct Answer {
  std::vector<IpAddress> addresses;
  std::optional<Errc> error;  // where there are no addresses
  net::Duration keep{0};
};

class Query final : public net::Runnable, public Linked<QueueTag> {
 public:
  static constexpr net::Duration kTtlMin = std::chrono::seconds(1);
  static constexpr net::Duration kTtlMax = std::chrono::hours(1);
  static constexpr net::Duration kNegativeTtlMax = std::chrono::seconds(5);
  // Of a negative answer that does not say how long it holds (RFC 2308 section 5), and of no answer
  // at all (RFC 9520 section 3.2: at least a second, so that a failing zone is not asked by every
  // client).
  static constexpr net::Duration kFailureTtl = std::chrono::seconds(1);

  class Owner {
   public:
    virtual void answered(Query& query, IpAddress::Family family, Answer answer) = 0;
    // Nothing is open any more; the owner may destroy the query in this call.
    virtual void finished(Query& query) = 0;

   protected:
    ~Owner() = default;
  };

  // The limit of time runs from now on, whenever the query is started. `key` means something to the
  // owner only.
  Query(net::Loop& loop, Owner& owner, void* key, std::vector<std::string> candidates,
        net::Duration timeout);

  void expect(IpAddress::Family family) { of(family).open = true; }
  bool open(IpAddress::Family family) const { return family == kV4 ? v4_.open : v6_.open; }
  bool done() const { return !v4_.open && !v6_.open; }
  bool started() const { return started_; }
  void* key() const { return key_; }
  // Questions put to c-ares.
  unsigned questions() const { return questions_; }
  // Time-outs until an answer came; 0 where none came.
  unsigned tries_lost() const { return tries_lost_; }
  // Which of the owner's servers was the first to be asked.
  size_t first_server() const { return first_server_; }

  // May answer at once, also both families; finished() is not called then, see done().
  void start(std::vector<std::string> servers, size_t first_server);
  void run() override;

 private:
  static constexpr auto kV4 = IpAddress::Family::v4;

  struct Question final : Channel::Listener {
    Question(Query& of, IpAddress::Family which) : query(of), family(which) {}
    void ask();
    void learn(const Channel::Outcome& outcome) override;
    void close(Answer answer);

    Query& query;
    IpAddress::Family family;
    size_t candidate = 0;
    bool open = false;
  };

  Question& of(IpAddress::Family family) { return family == kV4 ? v4_ : v6_; }
  void fail(Errc what);
  void arm();

  net::Loop& loop_;
  Owner& owner_;
  void* key_;
  std::vector<std::string> candidates_;
  net::Duration timeout_;
  net::Instant deadline_;
  net::Timer timer_;
  std::unique_ptr<Channel> channel_;
  Question v4_{*this, IpAddress::Family::v4};
  Question v6_{*this, IpAddress::Family::v6};
  unsigned questions_ = 0;
  unsigned tries_lost_ = 0;
  size_t first_server_ = 0;
  bool started_ = false;
};

}  // namespace headrace::dns
