#include "app/tls_contexts.h"

#include "base/log_line.h"
#include "tls/kernel.h"

namespace headrace::app {
namespace {

void write(LogSink& log, LogLevel level, std::string_view event, std::string_view listener,
           std::string_view details) {
  LogLine line;
  line.add("event", event).add("listener", listener).add("details", details);
  log.write(level, line.text());
}

}  // namespace

TlsContexts::TlsContexts(const session::ListenerOptions& options) : options_(options) {}

std::optional<tls::Identity> TlsContexts::load_identity(size_t index, std::string& fault) const {
  const tls::ServerOptions& tls = options_.tls;
  return tls::load_identity(tls.certificates[index], tls.keys[index],
                            index < tls.staples.size() ? tls.staples[index] : std::string(), fault);
}

bool TlsContexts::load_authorities(const std::string& file, std::string& text, std::string& fault) {
  if (file.empty()) return true;
  std::optional<std::string> read = tls::read_authorities(file, fault);
  if (read) text = std::move(*read);
  return read.has_value();
}

bool TlsContexts::load_ticket_keys(std::string& fault) {
  const std::string& file = options_.tls.ticket_keys;
  if (file.empty()) {
    if (!ticket_keys_) ticket_keys_ = std::make_shared<tls::TicketKeys>();
    return true;
  }
  const std::optional<std::string> bytes = tls::read_file(file, fault);
  if (!bytes) return false;
  std::vector<tls::TicketKeys::Key> keys = tls::TicketKeys::parse(as_bytes(*bytes));
  if (keys.empty()) {
    fault = file + " holds no ticket keys: 80 bytes for each, 1 to 16 of them";
    return false;
  }
  if (ticket_keys_)
    ticket_keys_->replace(std::move(keys));
  else
    ticket_keys_ = std::make_shared<tls::TicketKeys>(std::move(keys));
  return true;
}

bool TlsContexts::load_to_identity(std::string& fault) {
  const tls::ClientOptions& to_tls = options_.to_tls;
  if (to_tls.certificate.empty()) return true;
  std::optional<tls::Identity> identity =
      tls::load_identity(to_tls.certificate, to_tls.key, {}, fault);
  if (identity) to_identity_ = std::move(*identity);
  return identity.has_value();
}

bool TlsContexts::load(std::string& fault) {
  if (!load_authorities(options_.to_tls.ca, to_ca_, fault) || !load_to_identity(fault))
    return false;
  if (!options_.tls.enabled()) return true;
  if (!load_ticket_keys(fault)) return false;
  for (size_t i = 0; i < options_.tls.certificates.size(); ++i) {
    std::optional<tls::Identity> identity = load_identity(i, fault);
    if (!identity) return false;
    identities_.push_back(std::move(*identity));
  }
  return load_authorities(options_.tls.client_ca, client_ca_, fault);
}

void TlsContexts::reload(LogSink& log) {
  std::string fault;
  const auto tell = [&](bool read) {
    if (read) return;
    write(log, LogLevel::error, "reload_failed", options_.name,
          fault + "; what was read before stays");
  };
  for (size_t i = 0; i < identities_.size(); ++i) {
    std::optional<tls::Identity> identity = load_identity(i, fault);
    if (identity) identities_[i] = std::move(*identity);
    tell(identity.has_value());
  }
  if (options_.tls.enabled()) tell(load_ticket_keys(fault));
  tell(load_authorities(options_.tls.client_ca, client_ca_, fault));
  tell(load_authorities(options_.to_tls.ca, to_ca_, fault));
  tell(load_to_identity(fault));
  log_warnings(log);
}

void TlsContexts::log_reloaded(LogSink& log) const {
  write(log, LogLevel::info, "reloaded", options_.name, "certificates");
}

void TlsContexts::log_warnings(LogSink& log) const {
  for (size_t i = 0; i < identities_.size(); ++i)
    for (const std::string& warning : tls::warnings_about(identities_[i], options_.tls.keys[i]))
      write(log, LogLevel::warn, "certificate", options_.name, warning);
  const std::string& ticket_keys = options_.tls.ticket_keys;
  if (!ticket_keys.empty() && tls::everyone_can_read(ticket_keys))
    write(log, LogLevel::warn, "ticket_keys", options_.name,
          "the ticket keys " + ticket_keys + " can be read by everyone on this host");
  if (to_identity_)
    for (const std::string& warning : tls::warnings_about(*to_identity_, options_.to_tls.key))
      write(log, LogLevel::warn, "certificate", options_.name, warning);
  log_kernel_tls(log);
  if (options_.to_tls.insecure)
    write(log, LogLevel::warn, "insecure", options_.name,
          "--to-insecure: the destination's certificate is not verified");
}

void TlsContexts::log_kernel_tls(LogSink& log) const {
  using tls::KernelTls;
  const KernelTls wanted_of_clients = options_.tls.enabled() ? options_.tls.ktls : KernelTls::off;
  const KernelTls wanted_of_destination =
      options_.to_tls.enabled ? options_.to_tls.ktls : KernelTls::off;
  const bool on = wanted_of_clients == KernelTls::on || wanted_of_destination == KernelTls::on;
  const bool wanted =
      wanted_of_clients != KernelTls::off || wanted_of_destination != KernelTls::off;
  if (!wanted) return;
  if (tls::kernel::has_tls())
    write(log, LogLevel::info, "ktls", options_.name,
          on ? "the kernel does TLS of version 1.3"
             : "the kernel does TLS of version 1.3 for connections that move much");
  else
    write(log, on ? LogLevel::warn : LogLevel::info, "ktls", options_.name,
          "this kernel has no TLS (its module tls): the library does it");
}

std::vector<ListenerTls> TlsContexts::make(size_t workers, std::string& fault) const {
  const bool speaks_http = options_.protocol == session::Protocol::http;
  std::vector<ListenerTls> made(workers);
  for (ListenerTls& tls : made) {
    if (options_.tls.enabled()) {
      tls.from_clients =
          tls::ServerContext::create(options_.tls, identities_, client_ca_,
                                     speaks_http ? "http/1.1" : "", ticket_keys_, fault);
      if (!tls.from_clients) return {};
    }
    if (options_.to_tls.enabled) {
      tls.to_destination = tls::ClientContext::create(options_.to_tls, to_ca_, to_identity_, fault);
      if (!tls.to_destination) return {};
    }
  }
  return made;
}

}  // namespace headrace::app
