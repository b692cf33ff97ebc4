// The heads of the requests that the client sends.
#pragma once

#include <string>

#include "client_options.h"
#include "exchange.h"

namespace headrace::load {

class RequestHeads {
 public:
  explicit RequestHeads(const ClientOptions& options);

  // The head that belongs to an exchange; valid until the next call.
  const std::string& make(const ExchangeSpec& spec);

 private:
  std::string uri_prefix_;     // http://HOST:PORT for proxies, nothing else
  std::string fixed_path_;     // a foreign server's; empty: our origin's /b/SIZE/OFFSET
  std::string common_fields_;  // Host, Proxy-Authorization
  std::string head_;
};

}  // namespace headrace::load
