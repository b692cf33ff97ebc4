// The TLS state of one connection, without I/O: cipher bytes come in, plain bytes go out, and the
// other way round. What has to be sent is left in the worker's Workspace::output().
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "tls/workspace.h"

struct ssl_st;  // the library's SSL

namespace headrace::tls {

class ServerContext;
class ClientContext;
class Offload;

enum class Step : uint8_t {
  done,
  needs_input,  // all cipher bytes were taken
  closed,       // the other side has said close_notify
  failed,       // failure_text() says why; an alert may wait to be sent
};

class Engine {
 public:
  // The workspace outlives the engine, a context only its handshake. `offload`, which may be
  // nullptr, is told the secrets.
  Engine(Workspace& workspace, ServerContext& context, Offload* offload);
  // `name` is what the upstream's certificate must be for, `is_address` says that it is no name.
  // `destination` tells upstreams of one name apart.
  Engine(Workspace& workspace, ClientContext& context, const std::string& name, bool is_address,
         std::string_view destination, Offload* offload);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Each takes cipher bytes from the front of `input`.
  Step shake_hands(ByteSpan& input);
  // After `done`: what it has left to be sent are tickets of TLS 1.3, which the other side does not
  // wait for (RFC 8446 section 4.6.1).
  bool output_may_wait() const;
  // The cipher suite of TLS 1.3 (RFC 8446 section B.4); 0 of an older version.
  uint16_t suite() const;
  // Fills `plain` as far as whole records have come; what it could not hold stays in the input, or
  // inside (pending).
  Step read(ByteSpan& input, MutableByteSpan plain, size_t& bytes_read);
  bool pending() const;
  // Makes records of all of it. False where the connection has failed.
  bool write(ByteSpan plain);
  // Makes the close_notify.
  void close();

  // After `failed`.
  const char* failure_text() const { return failure_text_; }
  bool certificate_refused() const { return certificate_refused_; }

  // The subject of the other side's certificate, where one was asked for and is good; else empty.
  std::string verified_name() const;

 private:
  void prepare(Offload* offload);
  Step step_of(int result);

  Workspace& workspace_;
  ssl_st* connection_;
  const char* failure_text_ = "";
  bool judges_ = false;  // the other side is asked for a certificate, which has to be good
  bool certificate_refused_ = false;
};

}  // namespace headrace::tls
