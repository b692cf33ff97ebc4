// The PROXY protocol parser on any bytes. What must hold: a header is read the same whatever stands
// behind it, needs every one of its bytes, a failure is final, and what was read is written and
// read again as the same.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "base/check.h"
#include "base/parse.h"
#include "preface/proxy_header.h"

namespace {

using namespace headrace;
using preface::ProxyHeader;

void expect_rewritable(const ProxyHeader& header) {
  if (header.ends && header.ends->source.family() != header.ends->destination.family()) return;
  std::string v1;
  preface::append_proxy_header1(v1, header.ends);
  std::string v2;
  preface::append_proxy_header2(v2, header.ends, {});
  for (const std::string& text : {v1, v2}) {
    const Parse<ProxyHeader> again = preface::parse_proxy_header(as_bytes(text));
    HEADRACE_ASSERT(again && again->ends == header.ends && again.consumed_bytes() == text.size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const ByteSpan bytes(data, size);
  const Parse<ProxyHeader> whole = preface::parse_proxy_header(bytes);
  if (whole.needs_more()) HEADRACE_ASSERT(size < preface::kProxyHeader2BytesMax);
  if (whole) {
    HEADRACE_ASSERT(whole.consumed_bytes() <= std::min(size, preface::kProxyHeader2BytesMax));
    expect_rewritable(*whole);
  }
  for (size_t cut = 0; cut < size; ++cut) {
    const Parse<ProxyHeader> part = preface::parse_proxy_header(bytes.first(cut));
    if (part.failed()) {
      HEADRACE_ASSERT(whole.failed() && part.error() == whole.error());
      break;
    }
    if (part) {
      HEADRACE_ASSERT(whole && cut == whole.consumed_bytes());
      HEADRACE_ASSERT(part->ends == whole->ends);
      HEADRACE_ASSERT(part.consumed_bytes() == whole.consumed_bytes());
      break;
    }
    HEADRACE_ASSERT(!whole || cut < whole.consumed_bytes());
  }
  return 0;
}
