// One request of a client, read and understood: everything that is needed once its bytes have gone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/target.h"
#include "http/framing.h"
#include "net/task.h"
#include "session/session.h"

namespace headrace::session {

struct HttpRequest {
  enum class Kind : uint8_t {
    forward,     // to an origin
    connect,     // a tunnel
    answer_here  // OPTIONS or TRACE that must not go further
  };

  Kind kind = Kind::forward;
  std::string method;
  std::string user;  // verified; empty where none is needed
  Target target;
  std::string head;  // as the origin gets it
  http::BodyLength body;
  int minor_version = 1;
  bool persistent = false;
  bool upgrade = false;
  bool drops_trailer = false;  // Connection nominates fields, which must not come back as trailers
  // Authentication that makes the connection to the origin this client's own (RFC 4559).
  bool binds_connection = false;
  uint64_t head_bytes = 0;  // as received

  // May be sent again when a pooled connection died before answering.
  bool retriable() const;
};

// Why there is no request, and how to say so.
struct HttpRefusal {
  Error error;
  std::string target = {};    // for the log
  std::string details = {};   // instead of the usual words
  bool head_only = false;     // the request was a HEAD
  bool may_continue = false;  // the request was read whole: the connection can go on
  bool silent = false;        // nobody asked for anything: no answer
};

// Reads the next head into the inbox, as far as it does not lie in one piece, and understands it.
// What belongs to the body, or to the next request, stays in the inbox.
net::Task<std::optional<HttpRefusal>> read_request(Session& session, HttpRequest& request);

}  // namespace headrace::session
