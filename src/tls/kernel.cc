#include "tls/kernel.h"

#include <linux/tls.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/unique_fd.h"
#include "net/sys.h"
#include "tls/records.h"

// Of kernels, not of every C library.
#ifndef TCP_ULP
#define TCP_ULP 31
#endif
#ifndef SOL_TLS
#define SOL_TLS 282
#endif

namespace headrace::tls::kernel {
namespace {

constexpr char kName[] = "tls";

bool set_key(int fd, Way way, const void* info, size_t bytes) {
  const int option = way == Way::sending ? TLS_TX : TLS_RX;
  return setsockopt(fd, SOL_TLS, option, info, static_cast<socklen_t>(bytes)) == 0;
}

// The kernel's salt and iv together are the iv of RFC 8446 section 5.3.
template <class Info>
bool set_key_of(int fd, Way way, uint16_t cipher, const TrafficKey& key) {
  Info info{};
  info.info.version = TLS_1_3_VERSION;
  info.info.cipher_type = cipher;
  std::copy_n(key.key.begin(), sizeof(info.key), info.key);
  if constexpr (requires { info.salt[0]; }) {
    std::copy_n(key.iv.begin(), sizeof(info.salt), info.salt);
    std::copy_n(key.iv.begin() + sizeof(info.salt), sizeof(info.iv), info.iv);
  } else {
    std::copy_n(key.iv.begin(), sizeof(info.iv), info.iv);
  }
  for (size_t i = 0; i < sizeof(info.rec_seq); ++i)
    info.rec_seq[i] = static_cast<uint8_t>(key.sequence >> (8 * (sizeof(info.rec_seq) - 1 - i)));
  const bool set = set_key(fd, way, &info, sizeof(info));
  explicit_bzero(&info, sizeof(info));
  return set;
}

}  // namespace

// A socket that is not connected is refused for that, where there is anything to refuse.
bool has_tls() {
  static const bool kHas = [] {
    const UniqueFd fd(net::sys::socket(AF_INET, SOCK_STREAM, 0));
    return fd &&
           (setsockopt(fd.get(), SOL_TCP, TCP_ULP, kName, sizeof(kName)) == 0 || errno == ENOTCONN);
  }();
  return kHas;
}

bool install(int fd, Way way, const TrafficKey& key) {
  const bool on_top = setsockopt(fd, SOL_TCP, TCP_ULP, kName, sizeof(kName)) == 0 ||
                      errno == EEXIST;  // for the other way
  if (!on_top) return false;
  switch (key.suite) {
    case kAes128Gcm:
      return set_key_of<tls12_crypto_info_aes_gcm_128>(fd, way, TLS_CIPHER_AES_GCM_128, key);
    case kAes256Gcm:
      return set_key_of<tls12_crypto_info_aes_gcm_256>(fd, way, TLS_CIPHER_AES_GCM_256, key);
    default:
      return set_key_of<tls12_crypto_info_chacha20_poly1305>(fd, way, TLS_CIPHER_CHACHA20_POLY1305,
                                                             key);
  }
}

net::IoResult receive(net::Socket& socket, MutableByteSpan buffer, uint8_t& record_type) {
  alignas(cmsghdr) std::array<uint8_t, CMSG_SPACE(sizeof(uint8_t))> control;
  iovec piece{buffer.data(), buffer.size()};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const net::IoResult in = socket.receive_below(message);
  record_type = kDataRecord;
  const cmsghdr* said = in.moved() ? CMSG_FIRSTHDR(&message) : nullptr;
  if (said && said->cmsg_level == SOL_TLS && said->cmsg_type == TLS_GET_RECORD_TYPE)
    record_type = *CMSG_DATA(said);
  return in;
}

net::IoResult send_alert(net::Socket& socket, uint8_t level, uint8_t description) {
  std::array<uint8_t, 2> alert = {level, description};
  alignas(cmsghdr) std::array<uint8_t, CMSG_SPACE(sizeof(uint8_t))> control{};
  iovec piece{alert.data(), alert.size()};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* said = CMSG_FIRSTHDR(&message);
  said->cmsg_level = SOL_TLS;
  said->cmsg_type = TLS_SET_RECORD_TYPE;
  said->cmsg_len = CMSG_LEN(sizeof(uint8_t));
  *CMSG_DATA(said) = kAlertRecord;
  return socket.send_below(message);
}

}  // namespace headrace::tls::kernel
