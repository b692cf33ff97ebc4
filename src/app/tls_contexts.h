// The certificates of a listener from their files to the contexts of its workers, at start and at a
// reload. Of the control thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "session/options.h"
#include "tls/client_context.h"
#include "tls/identity.h"
#include "tls/server_context.h"
#include "tls/ticket_keys.h"

namespace headrace::app {

// What one worker uses for a listener; nullptr where that side does not speak TLS.
struct ListenerTls {
  std::shared_ptr<tls::ServerContext> from_clients;
  std::shared_ptr<tls::ClientContext> to_destination;
};

class TlsContexts {
 public:
  // The options outlive it.
  explicit TlsContexts(const session::ListenerOptions& options);

  // Reads all files; false with `fault`, which names the file.
  bool load(std::string& fault);
  // Reads them again. What is not right is logged, and what was read before stays.
  void reload(LogSink& log);
  // New connections of every worker use what was read again. Of the last worker to do so.
  void log_reloaded(LogSink& log) const;
  // What an operator should know about the files.
  void log_warnings(LogSink& log) const;

  // Of what was read last: as many as there are workers, or none, with `fault`.
  std::vector<ListenerTls> make(size_t workers, std::string& fault) const;

 private:
  // Both leave what was read before where they fail.
  static bool load_authorities(const std::string& file, std::string& text, std::string& fault);
  void log_kernel_tls(LogSink& log) const;
  bool load_ticket_keys(std::string& fault);
  bool load_to_identity(std::string& fault);
  std::optional<tls::Identity> load_identity(size_t index, std::string& fault) const;

  const session::ListenerOptions& options_;
  std::vector<tls::Identity> identities_;
  std::string client_ca_;  // the text of the file
  std::shared_ptr<tls::TicketKeys> ticket_keys_;
  std::string to_ca_;  // the text of the file
  std::optional<tls::Identity> to_identity_;
};

}  // namespace headrace::app
