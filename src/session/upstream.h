// A connection to an upstream: what the dialer makes, a session uses, and the origin pool keeps.
#pragma once

#include <memory>

#include "base/list.h"
#include "net/endpoint.h"
#include "net/loop.h"
#include "net/socket.h"

namespace headrace::session {

struct Origin;
class OriginPool;
struct PoolTag;
struct IdleTag;

class Upstream final : public net::Runnable, public Linked<PoolTag>, public Linked<IdleTag> {
 public:
  explicit Upstream(net::Runnable& owner) : socket(owner) {}
  ~Upstream();

  // Something happened to it while it lay in the pool.
  void run() override;
  // Between two exchanges: it has not ended, and nothing is to be read. Being marked readable alone
  // says little: a read that asked for a body's last byte and not more leaves the mark standing.
  bool is_quiet();

  net::Socket socket;
  net::Endpoint address;  // dialled

  // Of connections that the pool knows.
  OriginPool* pool = nullptr;
  Origin* origin = nullptr;
  net::Instant expires{};  // while idle
  // Carried an exchange before: its death without an answer may be the pool's fault.
  bool reused = false;
  // Belongs to the client it was opened for: authentication is bound to it (RFC 4559 and its like).
  bool bound_to_client = false;
};

}  // namespace headrace::session
