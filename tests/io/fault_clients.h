// Plays the clients of a round, as they are planned, and judges what they get.
#pragma once

#include <iosfwd>
#include <memory>
#include <string>

#include "fault_plans.h"
#include "plain_socket.h"

namespace headrace::io {

// How it went, for one tunnel or one request.
enum class Outcome : uint8_t {
  complete,  // all of it, and nothing but it, with a clean end
  refused,   // told so by the front, or cut before anything of the upstream's came
  cut,       // and it showed
  wrong,     // bytes that nobody sent, or a cut that looks like an end
};

std::ostream& operator<<(std::ostream& out, Outcome outcome);

struct Verdict {
  uint64_t id;
  Outcome outcome;
  std::string details;
};

class FaultClient {
 public:
  virtual ~FaultClient() = default;
  // Everything that can be done without waiting.
  virtual void step() = 0;
  virtual bool finished() const = 0;
  // What it waits for, for whoever finds it hanging.
  virtual std::string state() const = 0;

  const std::vector<Verdict>& verdicts() const { return verdicts_; }

 protected:
  void conclude(uint64_t id, Outcome outcome, std::string details = {}) {
    verdicts_.push_back({id, outcome, std::move(details)});
  }

 private:
  std::vector<Verdict> verdicts_;
};

// Where they go.
struct Places {
  net::Endpoint relay;
  net::Endpoint http;
  net::Endpoint socks;
  net::Endpoint mixed;
  net::Endpoint origin;
};

std::unique_ptr<FaultClient> make_client(const TunnelPlan& plan, const Places& places);
std::unique_ptr<FaultClient> make_client(const HttpPlan& plan, const Places& places);

}  // namespace headrace::io
