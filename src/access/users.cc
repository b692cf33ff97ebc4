#include "access/users.h"

#include <algorithm>

namespace headrace::access {
namespace {

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

}  // namespace

Users::Secret::Secret(std::string_view password) : size_(password.size()) {
  password.copy(reinterpret_cast<char*>(block_.data()), kPasswordBytesMax);
}

bool Users::Secret::matches(std::string_view password) const {
  const Secret given(password);
  // volatile: no compiler may leave the loop early once the outcome is certain.
  volatile uint64_t difference = size_ ^ given.size_;
  for (size_t i = 0; i < block_.size(); ++i)
    difference = difference | (block_[i] ^ given.block_[i]);
  return difference == 0;
}

std::optional<std::string> Users::add(std::string_view name, std::string_view password) {
  if (name.empty()) return "a user needs a name";
  if (name.size() > kUserNameBytesMax) return "a user's name has at most 255 bytes";
  if (name.find(':') != name.npos) return "a user's name cannot hold a colon";
  if (std::any_of(name.begin(), name.end(), is_control))
    return "a user's name cannot hold control bytes";
  if (password.size() > kPasswordBytesMax) return "a password has at most 255 bytes";
  if (!passwords_.emplace(name, Secret(password)).second)
    return "user '" + std::string(name) + "' is given twice";
  return std::nullopt;
}

std::optional<std::string> Users::add_pair(std::string_view pair) {
  const size_t colon = pair.find(':');
  if (colon == pair.npos) return "a user is written NAME:PASSWORD";
  return add(pair.substr(0, colon), pair.substr(colon + 1));
}

bool Users::verify(std::string_view name, std::string_view password) const {
  const auto found = passwords_.find(name);
  return (found == passwords_.end() ? decoy_ : found->second).matches(password);
}

}  // namespace headrace::access
