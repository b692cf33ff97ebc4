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

class TlsContexts {
 public:
  // The options outlive it.
  explicit TlsContexts(const session::ListenerOptions& options);

  // Reads all files; false with `fault`, which names the file.
  bool load(std::string& fault);
  // Reads them again. A pair that is not right is logged, and the one before stays.
  void reload(LogSink& log);
  // What an operator should know about the files.
  void log_warnings(LogSink& log) const;

  // Of what was read last; one for each worker. nullptr with `fault`.
  std::shared_ptr<tls::ServerContext> make_server_context(std::string& fault) const;
  // The same for the destination.
  std::shared_ptr<tls::ClientContext> make_client_context(std::string& fault) const;

 private:
  // Both leave what was read before where they fail.
  static bool load_authorities(const std::string& file, std::string& text, std::string& fault);
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
