// What an operator can say about TLS: from the client (of a listener), and to the destination (of a
// relay). The table of keys and bounds stands in config/options_table.cc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace headrace::tls {

enum class Version : uint8_t { tls12, tls13 };

// What becomes of a client without a certificate, where there is a client_ca.
enum class ClientCertificate : uint8_t { required, optional };

// What becomes of a client that asks for a name of which there is no certificate.
enum class UnknownName : uint8_t {
  first_certificate,  // it gets the first one
  refused,            // unrecognized_name (RFC 6066 section 3)
};

// Whether the kernel makes and opens the records, where it can (kTLS): then they can be spliced.
enum class KernelTls : uint8_t {
  automatic,  // of connections that move much
  on,         // of all, from the handshake on
  off,
};

// TLS from the client. Without certificates there is none.
struct ServerOptions {
  std::vector<std::string> certificates;  // files: the chain, the leaf first
  std::vector<std::string> keys;          // one for each certificate
  std::vector<std::string> staples;       // OCSP responses (DER), for the first certificates
  std::string client_ca;                  // a file; empty: clients are not asked for certificates
  std::string ticket_keys;                // a file; empty: they are made at start
  ClientCertificate client_certificate = ClientCertificate::required;
  UnknownName unknown_name = UnknownName::first_certificate;
  Version min_version = Version::tls12;
  std::string groups = "auto";   // as the library spells them, separated by colons
  std::string ciphers = "auto";  // the same, for TLS 1.2
  std::string alpn = "auto";     // separated by commas; "auto" is the listener's, empty none
  uint32_t handshakes_max = 4096;
  KernelTls ktls = KernelTls::automatic;

  bool enabled() const { return !certificates.empty(); }
};

// TLS to the destination.
struct ClientOptions {
  bool enabled = false;
  bool insecure = false;    // takes any certificate
  std::string ca;           // a file; empty: the system's
  std::string name;         // in the place of the destination's
  std::string certificate;  // a file; empty: none
  std::string key;
  std::string alpn;  // separated by commas; empty: none
  KernelTls ktls = KernelTls::automatic;
};

}  // namespace headrace::tls
