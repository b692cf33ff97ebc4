// The PROXY protocol on both sides of a session: who in front of us may say whom he passes on, and
// what an upstream is told. The formats stand in preface/proxy_header.h.
#pragma once

#include <string_view>

#include "base/result.h"
#include "net/task.h"

namespace headrace::session {

class Session;

// Where the listener accepts the protocol: reads the header, after which the client is who it says,
// and what came behind it lies in the inbox. The specification forbids to guess whether a header is
// there, so on such a listener everyone must send one, and who may not is refused. What fails is
// counted and logged; the session is over then.
net::Task<Result<Done>> read_proxy_header(Session& session);

// Where the listener sends the protocol: puts the header in front of what goes to the upstream
// first. `server_name` is what a TLS client named, if it did.
void prepend_proxy_header(Session& session, std::string_view server_name);
// The same where TLS with the upstream comes next: the header goes in front of the handshake, in
// plain text.
Result<Done> send_proxy_header(Session& session);

}  // namespace headrace::session
