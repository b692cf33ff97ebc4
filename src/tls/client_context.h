// What a worker needs to be a TLS client of a destination: whom it trusts, who it is, and the
// sessions that it may go on with. One for each worker.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "tls/identity.h"
#include "tls/options.h"
#include "tls/verdicts.h"

struct ssl_st;
struct ssl_ctx_st;
struct ssl_session_st;
struct x509_store_ctx_st;

namespace headrace::tls {

class ClientContext {
 public:
  // Kept for one destination, the newest last. A server gives one or two for each connection, and
  // one of TLS 1.3 is used once: as many as connections begin in the time that one of them takes.
  static constexpr size_t kSessionsMax = 256;
  // Destinations of which sessions are kept; a relay has one.
  static constexpr size_t kDestinationsMax = 16;

  // nullptr with `fault` filled. `ca` is the text of that file; empty: the system's. `identity` is
  // what the destination is shown, if it asks.
  static std::unique_ptr<ClientContext> create(const ClientOptions& options, const std::string& ca,
                                               const std::optional<Identity>& identity,
                                               std::string& fault);
  ~ClientContext();
  ClientContext(const ClientContext&) = delete;
  ClientContext& operator=(const ClientContext&) = delete;

  // For Engine: a connection to `name`, which the certificate must be for. `destination` tells the
  // sessions of one destination from those of another.
  ssl_st* open_connection(const std::string& name, bool is_address, std::string_view destination);
  KernelTls ktls() const { return ktls_; }

 private:
  struct Free {
    void operator()(ssl_ctx_st* context) const;
    void operator()(ssl_session_st* session) const;
  };
  using Session = std::unique_ptr<ssl_session_st, Free>;
  using Sessions = std::deque<Session>;
  // Of destinations, by name and address.
  using AllSessions = std::unordered_map<std::string, Sessions>;
  struct Kept {
    AllSessions sessions;
    Verdicts verdicts;  // under the same names
  };

  ClientContext() = default;
  bool set_trust(const ClientOptions& options, const std::string& ca, std::string& fault);
  bool show(const Identity& identity, std::string& fault);
  void go_on_with_a_session(ssl_st* connection, Sessions& sessions);
  static int keep_session(ssl_st* connection, ssl_session_st* session);
  static int verify(x509_store_ctx_st* chain, void* kept);

  static int kept_index();

  std::unique_ptr<ssl_ctx_st, Free> context_;
  // The library's context owns it, and every connection that context: they get sessions as long
  // as they last, also when this here has been exchanged for another one. Entries stay where they
  // are, and for good: connections point to theirs.
  Kept* kept_ = nullptr;
  KernelTls ktls_ = KernelTls::off;
};

}  // namespace headrace::tls
