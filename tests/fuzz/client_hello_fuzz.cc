// The ClientHello reader on any bytes. What must hold: a hello is read the same in one piece and in
// many, needs every one of its bytes, and a failure is final and comes however the bytes were cut.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "base/check.h"
#include "base/parse.h"
#include "preface/client_hello.h"

namespace {

using namespace headrace;
using preface::ClientHello;
using preface::ClientHelloReader;

void expect_same(const Parse<ClientHello>& a, const Parse<ClientHello>& b) {
  HEADRACE_ASSERT(a.needs_more() == b.needs_more() && a.failed() == b.failed());
  if (a.failed()) HEADRACE_ASSERT(a.error() == b.error());
  if (!a) return;
  HEADRACE_ASSERT(a->server_name == b->server_name);
  HEADRACE_ASSERT(a.consumed_bytes() == b.consumed_bytes());
}

// What one reader says in the end that is given the bytes in pieces.
Parse<ClientHello> read_in_pieces(ByteSpan bytes, size_t piece_bytes) {
  ClientHelloReader reader;
  for (size_t cut = 0; cut < bytes.size(); cut += piece_bytes) {
    Parse<ClientHello> parsed = reader.read(bytes.first(cut));
    if (parsed) HEADRACE_ASSERT(cut >= parsed.consumed_bytes());
    if (!parsed.needs_more()) return parsed;
  }
  return reader.read(bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const ByteSpan bytes(data, size);
  const Parse<ClientHello> whole = ClientHelloReader().read(bytes);
  if (whole) {
    HEADRACE_ASSERT(whole.consumed_bytes() <= size);
    if (whole->server_name) {
      HEADRACE_ASSERT(!whole->server_name->empty());
      HEADRACE_ASSERT(whole->server_name->size() < whole.consumed_bytes());
    }
    const ByteSpan all_but_one = bytes.first(whole.consumed_bytes() - 1);
    HEADRACE_ASSERT(ClientHelloReader().read(all_but_one).needs_more());
  }
  for (const size_t piece_bytes : {size_t{1}, size_t{7}, size_t{512}})
    expect_same(whole, read_in_pieces(bytes, piece_bytes));
  return 0;
}
