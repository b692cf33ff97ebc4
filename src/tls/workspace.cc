#include "tls/workspace.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "tls/library.h"

namespace headrace::tls {
namespace {

Workspace& workspace_of(BIO* bio) {
  return *static_cast<Workspace*>(BIO_get_data(bio));
}

int read(BIO* bio, char* out, int bytes_max) {
  BIO_clear_retry_flags(bio);
  Workspace& workspace = workspace_of(bio);
  const ByteSpan input = workspace.input();
  const size_t bytes = std::min(input.size(), static_cast<size_t>(std::max(bytes_max, 0)));
  if (bytes == 0) {
    BIO_set_retry_read(bio);
    return -1;
  }
  std::memcpy(out, input.data(), bytes);
  workspace.set_input(input.subspan(bytes));
  return static_cast<int>(bytes);
}

int write(BIO* bio, const char* bytes, int count) {
  BIO_clear_retry_flags(bio);
  std::vector<uint8_t>& output = workspace_of(bio).output();
  // As bytes of its own kind: others would be copied one by one.
  const auto* begin = reinterpret_cast<const uint8_t*>(bytes);
  output.insert(output.end(), begin, begin + std::max(count, 0));
  return count;
}

long control(BIO*, int command, long, void*) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

int create(BIO* bio) {
  BIO_set_init(bio, 1);
  return 1;
}

const BIO_METHOD* method() {
  static const BIO_METHOD* const kMethod = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "headrace");
    HEADRACE_ASSERT(made);
    BIO_meth_set_create(made, create);
    BIO_meth_set_read(made, read);
    BIO_meth_set_write(made, write);
    BIO_meth_set_ctrl(made, control);
    return made;
  }();
  return kMethod;
}

}  // namespace

Workspace::~Workspace() {
  BIO_free(bio_);
}

MutableByteSpan Workspace::cipher_buffer() {
  if (!cipher_) cipher_ = std::make_unique_for_overwrite<uint8_t[]>(kCipherBytes);
  return {cipher_.get(), kCipherBytes};
}

MutableByteSpan Workspace::record_buffer() {
  if (!record_) record_ = std::make_unique_for_overwrite<uint8_t[]>(kRecordBytes);
  return {record_.get(), kRecordBytes};
}

bio_st* Workspace::share_bio() {
  if (!bio_) {
    bio_ = BIO_new(method());
    HEADRACE_ASSERT(bio_);
    BIO_set_data(bio_, this);
  }
  BIO_up_ref(bio_);
  return bio_;
}

}  // namespace headrace::tls
