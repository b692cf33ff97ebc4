// Who may use the proxy, by name and password. Filled at start, then only read: any thread may ask.
//
// How long an answer takes says nothing of a password: passwords are compared in blocks of one size
// without stopping at a difference. A name that nobody has is compared with a decoy, so that
// between names there is only the difference that looking one up in a table makes, which is far
// below what can be told over a network.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace headrace::access {

// What RFC 1929 can carry.
inline constexpr size_t kUserNameBytesMax = 255;
inline constexpr size_t kPasswordBytesMax = 255;

class Users {
 public:
  // The fault in words, or nothing. A name is 1 to 255 bytes without colon and control bytes (RFC
  // 7617 section 2), as it was typed: names have no case rules. A password is 0 to 255 bytes of any
  // kind.
  [[nodiscard]] std::optional<std::string> add(std::string_view name, std::string_view password);
  // "NAME:PASSWORD"; the password begins behind the first colon and may hold others.
  [[nodiscard]] std::optional<std::string> add_pair(std::string_view pair);

  bool empty() const { return passwords_.empty(); }
  bool verify(std::string_view name, std::string_view password) const;

 private:
  // A password in a block of one size.
  class Secret {
   public:
    Secret() = default;  // equal to nothing
    explicit Secret(std::string_view password);
    bool matches(std::string_view password) const;

   private:
    std::array<uint64_t, (kPasswordBytesMax + 8) / 8> block_{};
    size_t size_ = SIZE_MAX;
  };

  struct NameHash {
    using is_transparent = void;
    size_t operator()(std::string_view name) const { return std::hash<std::string_view>()(name); }
  };
  std::unordered_map<std::string, Secret, NameHash, std::equal_to<>> passwords_;
  Secret decoy_;
};

}  // namespace headrace::access
