// What an operator can set about who may use a listener and where it leads.
#pragma once

#include <vector>

#include "access/port_set.h"
#include "access/users.h"
#include "base/ip.h"

namespace headrace::access {

struct Options {
  std::vector<IpNetwork> allow;  // clients by address; empty: from anywhere
  Users users;                   // empty: nobody needs to say who they are
  bool open = false;             // the operator wants an open proxy
  bool allow_private = false;    // private destinations for clients that are not on loopback
  // Where CONNECT and sni may go. TLS and what runs above the privileged ports; not mail (25) and
  // its like.
  PortSet connect_ports = {{443, 443}, {8443, 8443}, {1024, 65535}};
};

}  // namespace headrace::access
