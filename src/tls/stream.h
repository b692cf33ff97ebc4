// TLS between a socket and those who use it (net::Layer): records in, plain bytes out, and back.
//
// Nothing is kept while the connection is at rest. Cipher bytes that the socket would not take are
// a residue here; the plain bytes they stand for are reported as moved only when they have left, so
// that everybody else treats a full TLS connection as they would a full socket.
//
// The end: close_notify is the end of a stream; an end of the socket without it is a cut.
//
// A connection may be handed over to the kernel in the middle (kTLS), one way at a time; then that
// way is spliced as if the socket were plain, and what is left to do here is what is no data:
// alerts, tickets, close_notify, and ending what got a KeyUpdate.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "net/alarm.h"
#include "net/buffer.h"
#include "net/socket.h"
#include "tls/client_context.h"
#include "tls/engine.h"
#include "tls/offload.h"
#include "tls/server_context.h"
#include "tls/workspace.h"

namespace headrace::tls {

class Stream final : public net::Layer {
 public:
  // Cipher bytes that no plain ones have paid for: empty records, KeyUpdates, tickets, padding.
  // Beyond, the other side only keeps us busy.
  static constexpr size_t kBarrenBytesMax = 64 * 1024;
  // What a plain byte pays for: a record of its own with some padding, and a KeyUpdate or a few.
  static constexpr size_t kBytesPaidByOne = 256;
  // What such records make us answer may wait for a socket that is full, up to here.
  static constexpr size_t kAnswerBytesMax = 4 * 1024;

  // As the server of a client.
  Stream(Workspace& workspace, ServerContext& context)
      : workspace_(workspace),
        offload_(Offload::create(context.ktls(), false)),
        engine_(workspace, context, offload_.get()) {}
  // As a client of an upstream (Engine has the words).
  Stream(Workspace& workspace, ClientContext& context, const std::string& name, bool is_address,
         std::string_view destination)
      : workspace_(workspace),
        offload_(Offload::create(context.ktls(), true)),
        engine_(workspace, context, name, is_address, destination, offload_.get()),
        speaks_first_(true) {}

  enum class Handshake : uint8_t {
    waiting,  // for an event of the socket
    done,
    not_tls,  // what came is no TLS at all; first_byte() is what it begins with
    failed,   // failure() and failure_text() say why; the alert is sent
  };
  // Cipher bytes that were received before, behind a PROXY protocol header say.
  void take_received(ByteSpan bytes) { incoming_.append(bytes); }
  Handshake shake_hands(net::Socket& socket);
  Errc failure() const { return failure_; }
  const char* failure_text() const {
    return failure_text_ ? failure_text_ : engine_.failure_text();
  }
  uint8_t first_byte() const { return first_byte_; }

  net::IoResult receive(net::Socket& socket, MutableByteSpan buffer) override;
  net::IoResult send(net::Socket& socket, std::span<const iovec> pieces, bool more) override;
  bool shut_writes(net::Socket& socket) override;
  bool can_splice_in() const override { return kernel_receives_; }
  bool can_splice_out() const override { return kernel_sends_; }
  std::string verified_name() const override { return engine_.verified_name(); }

 private:
  enum class End : uint8_t { open, closed, failed };
  // Of a server, made by the handshake and not sent yet; overdue: data have come meanwhile.
  enum class Tickets : uint8_t { none, held, overdue };

  Handshake fail_handshake(Errc what, const char* text);
  void begin_data(net::Socket& socket);
  bool hand_over(Way way, net::Socket& socket);
  net::IoResult receive_by_kernel(net::Socket& socket, MutableByteSpan buffer);
  net::IoResult send_by_kernel(net::Socket& socket, std::span<const iovec> pieces);
  bool shut_kernel_writes(net::Socket& socket);
  void take_control_record(uint8_t record_type, ByteSpan content);
  void refuse_key_update();
  void pay(size_t cipher_bytes, size_t plain_bytes);
  void hold_tickets();
  void release_tickets(net::Socket& socket);
  net::IoResult end_result() const;
  void note_failure(int os_errno);
  // Sends what waits and what the library has written meanwhile; moved when nothing is left.
  net::IoResult flush(net::Socket& socket, bool more);
  void answer(net::Socket& socket);
  bool encrypt(std::span<const iovec> pieces, size_t skipped_bytes);

  Workspace& workspace_;
  std::unique_ptr<Offload> offload_;      // where the kernel may take over
  std::unique_ptr<net::Alarm> end_wait_;  // until the kernel has sent everything
  Engine engine_;
  net::Residue incoming_;  // received and not read yet
  net::Residue outgoing_;  // to be sent
  const char* failure_text_ = nullptr;
  size_t owed_bytes_ = 0;  // plain bytes in outgoing_, not yet reported as moved
  size_t barren_bytes_ = 0;
  uint32_t answer_bytes_ = 0;  // in outgoing_, at most
  int os_errno_ = 0;
  End end_ = End::open;
  Tickets tickets_ = Tickets::none;  // in outgoing_, alone
  Errc failure_ = Errc::tls_failed;
  uint8_t first_byte_ = 0;
  bool begun_ = false;         // the other side has sent something that looks like TLS
  bool speaks_first_ = false;  // we do, and have not yet
  bool close_made_ = false;
  bool kernel_receives_ = false;
  bool kernel_sends_ = false;
};

}  // namespace headrace::tls
