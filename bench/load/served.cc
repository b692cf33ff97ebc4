#include "served.h"

#include <sys/epoll.h>

#include "origin_http.h"
#include "origin_raw.h"

namespace headrace::load {

Served::Served(OriginShared& shared, UniqueFd fd, UniqueSsl ssl)
    : shared_(shared), is_handshaking_(ssl != nullptr) {
  stream_.open(std::move(fd), std::move(ssl));
}

Served::Outcome Served::on_ready(uint32_t events) {
  if (is_handshaking_) {
    const IoResult result = stream_.handshake();
    if (result.blocked()) return Outcome::waiting;
    if (!result.moved()) return Outcome::over;
    is_handshaking_ = false;
  }
  if ((events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) told_end_ = true;
  return serve();
}

std::unique_ptr<Served> make_served(Role role, OriginShared& shared, UniqueFd fd, UniqueSsl ssl) {
  switch (role) {
    case Role::http:
      return std::make_unique<HttpServed>(shared, std::move(fd), std::move(ssl));
    case Role::sink:
      return std::make_unique<SinkServed>(shared, std::move(fd), std::move(ssl));
    case Role::source:
      return std::make_unique<SourceServed>(shared, std::move(fd), std::move(ssl));
    case Role::echo:
      break;
  }
  return std::make_unique<EchoServed>(shared, std::move(fd), std::move(ssl));
}

}  // namespace headrace::load
