// What one worker lends to all its TLS connections: the buffers for cipher bytes on their way in
// and out, and the one BIO through which the library takes and gives them. A connection at rest has
// none of it. Made when the worker's first TLS connection comes.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/bytes.h"
#include "net/loop.h"
#include "tls/stats.h"

struct bio_st;  // the library's BIO

namespace headrace::tls {

class Workspace {
 public:
  // One receive takes at most so much. Its plain bytes fit into the relay's buffer, which is
  // smaller by the length of a record, even behind a record that was received in part before.
  static constexpr size_t kCipherBytes = 112 * 1024;
  // The longest plain text of a record (RFC 8446 section 5.1).
  static constexpr size_t kRecordBytes = 16 * 1024;

  // The loop is that of the connections which the kernel may take over, and outlives them.
  explicit Workspace(net::Loop* loop = nullptr) : loop_(loop) {}
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  // Free for one receive.
  MutableByteSpan cipher_buffer();
  // Where short pieces become one record.
  MutableByteSpan record_buffer();
  // What the library has written and nobody has sent yet.
  std::vector<uint8_t>& output() { return output_; }

  // Another reference to the BIO, for a connection.
  bio_st* share_bio();
  // What the library's reads take from, for the operation under way.
  void set_input(ByteSpan bytes) { input_ = bytes; }
  ByteSpan input() const { return input_; }

  net::Loop& loop() { return *loop_; }

  Stats stats;

 private:
  net::Loop* loop_;
  std::unique_ptr<uint8_t[]> cipher_;
  std::unique_ptr<uint8_t[]> record_;
  std::vector<uint8_t> output_;
  ByteSpan input_;
  bio_st* bio_ = nullptr;
};

}  // namespace headrace::tls
