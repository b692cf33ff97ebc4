// What a worker needs to be the TLS server of a listener: certificates by name, and how to speak.
// One for each worker, so that nothing is counted or locked between them; only the ticket keys are
// shared.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tls/identity.h"
#include "tls/options.h"
#include "tls/ticket_keys.h"

struct ssl_st;
struct ssl_ctx_st;

namespace headrace::tls {

class ServerContext {
 public:
  // nullptr with `fault` filled. `client_ca` is the text of that file. `alpn` is what "auto" means
  // for this listener.
  static std::unique_ptr<ServerContext> create(const ServerOptions& options,
                                               const std::vector<Identity>& identities,
                                               const std::string& client_ca, std::string_view alpn,
                                               std::shared_ptr<TicketKeys> ticket_keys,
                                               std::string& fault);
  ~ServerContext();
  ServerContext(const ServerContext&) = delete;
  ServerContext& operator=(const ServerContext&) = delete;

  // For Engine: a connection that begins with the first certificate.
  ssl_st* open_connection();
  KernelTls ktls() const { return ktls_; }

 private:
  struct Free {
    void operator()(ssl_ctx_st* context) const;
  };
  using Context = std::unique_ptr<ssl_ctx_st, Free>;
  // Certificates for the same names, of different kinds of keys.
  struct Entry {
    std::vector<std::string> names;
    Context context;  // the first, or both where the library can
    Context rsa;      // for clients that do not take ECDSA
  };

  ServerContext() = default;
  Context make_context(const ServerOptions& options, const std::string& client_ca,
                       std::string& fault);
  bool add(const Identity& identity, const ServerOptions& options, const std::string& client_ca,
           std::string& fault);
  const Entry* find(std::string_view name) const;
  static bool knows_name(const void* self, std::string_view name);
  static int choose(ssl_st* connection, int* alert, void* self);

  std::shared_ptr<TicketKeys> ticket_keys_;  // the contexts use them
  std::vector<std::unique_ptr<Entry>> entries_;
  std::unordered_map<std::string, const Entry*> exact_;
  std::unordered_map<std::string, const Entry*> wildcard_;  // by what is behind "*."
  std::string alpn_;                                        // as ALPN writes it
  KernelTls ktls_ = KernelTls::off;
  bool refuses_unknown_names_ = false;
};

}  // namespace headrace::tls
