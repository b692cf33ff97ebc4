#include "session/proxy_protocol.h"

#include <algorithm>

#include "preface/proxy_header.h"
#include "session/session.h"

namespace headrace::session {
namespace {

// Unix sockets are reached by whom their file's mode lets, and need no network.
bool may_tell(Session& session) {
  if (!session.client_address()) return true;
  const std::vector<IpNetwork>& networks = session.options().accept_proxy_protocol;
  return std::any_of(networks.begin(), networks.end(), [&](const IpNetwork& network) {
    return network.contains(session.client_address()->address);
  });
}

// Not a word is owed to whom breaks the protocol, and a reset shows that it was no clean end.
Error refuse(Session& session, Error error) {
  session.note_refusal(error);
  session.end_with_reset();
  return error;
}

void take_header(Session& session, const preface::ProxyHeader& header) {
  if (!header.ends) return;
  session.set_told_ends({header.ends->source, header.ends->source_port},
                        {header.ends->destination, header.ends->destination_port});
}

std::optional<preface::ConnectionEnds> ends_of(Session& session) {
  const std::optional<net::Endpoint>& from = session.client_address();
  const std::optional<net::Endpoint> to = session.client_destination();
  if (!from || !to) return std::nullopt;
  return preface::ConnectionEnds{from->address, to->address, from->port, to->port};
}

// Empty where none is to be sent.
std::string header_for_upstream(Session& session, std::string_view server_name) {
  std::string header;
  switch (session.options().send_proxy_protocol) {
    case preface::ProxyProtocol::off:
      break;
    case preface::ProxyProtocol::v1:
      preface::append_proxy_header1(header, ends_of(session));
      break;
    case preface::ProxyProtocol::v2: {
      std::string tlvs;
      if (!server_name.empty()) preface::append_tlv(tlvs, preface::TlvType::authority, server_name);
      preface::append_proxy_header2(header, ends_of(session), tlvs);
      break;
    }
  }
  return header;
}

}  // namespace

net::Task<Result<Done>> read_proxy_header(Session& session) {
  session.set_protocol_name("proxy_protocol");  // until the front is known
  if (!may_tell(session)) co_return refuse(session, Error{Errc::client_denied, Side::local});
  for (;;) {
    Parse<preface::ProxyHeader> header = preface::parse_proxy_header(session.inbox.bytes());
    if (header) {
      session.inbox.consume(header.consumed_bytes());
      take_header(session, *header);
      co_return Done{};
    }
    if (header.failed()) co_return refuse(session, Error{header.error(), Side::client});
    // A header that is not whole is shorter than its limit.
    net::IoResult in = session.receive_into_inbox(preface::kProxyHeader2BytesMax);
    if (in.moved()) {
      session.set_resting(false);
      continue;
    }
    Error ended{Errc::ended, Side::client};
    // Whoever only looks whether somebody listens sends nothing.
    if (in.ended() && session.inbox.empty()) co_return ended;
    if (in.ended()) co_return refuse(session, ended);
    if (in.failed()) co_return refuse(session, in.error(Side::client));
    Result<Done> woken = co_await session.woken();
    if (!woken) co_return refuse(session, woken.error());
  }
}

Result<Done> send_proxy_header(Session& session) {
  const std::string header = header_for_upstream(session, {});
  if (header.empty()) return Done{};
  net::IoResult out = session.upstream->socket.send(as_bytes(header));
  if (out.failed()) return out.error(Side::upstream);
  // A connection that has just come about takes a few hundred bytes, or nobody listens there.
  if (out.bytes != header.size()) return Error{Errc::connect_failed, Side::upstream};
  return Done{};
}

void prepend_proxy_header(Session& session, std::string_view server_name) {
  const std::string header = header_for_upstream(session, server_name);
  if (header.empty()) return;
  net::Residue first;
  first.append(as_bytes(header));
  first.append(session.inbox.bytes());
  session.inbox = std::move(first);
}

}  // namespace headrace::session
