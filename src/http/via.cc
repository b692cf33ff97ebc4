#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "http/rewrite.h"

namespace headrace::http {
namespace {

// One entry of Via: protocol, blanks, received-by, and perhaps a comment (RFC 9110 section 7.6.3).
struct ViaEntry {
  std::string_view received_by;
  std::string_view comment;
  bool has_comment = false;
};

class ViaEntries {
 public:
  explicit ViaEntries(std::string_view value) : rest_(value) {}

  // What is no entry is read as far as it goes: Via is for loops and people, not for refusing.
  bool next(ViaEntry& entry) {
    skip_any_of(" \t,");
    if (rest_.empty()) return false;
    entry = {};
    take_until(" \t,(");  // the protocol
    skip_any_of(" \t");
    entry.received_by = take_until(" \t,(");
    skip_any_of(" \t");
    if (rest_.starts_with('(')) {
      entry.has_comment = true;
      entry.comment = take_comment();
    }
    take_until(",");
    return true;
  }

 private:
  void skip_any_of(std::string_view chars) {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(chars), rest_.size()));
  }
  std::string_view take_until(std::string_view chars) {
    std::string_view taken = rest_.substr(0, rest_.find_first_of(chars));
    rest_.remove_prefix(taken.size());
    return taken;
  }
  // Comments nest, and a backslash takes the next byte out of account.
  std::string_view take_comment() {
    size_t depth = 0;
    size_t at = 0;
    for (; at < rest_.size(); ++at) {
      if (rest_[at] == '\\')
        ++at;
      else if (rest_[at] == '(')
        ++depth;
      else if (rest_[at] == ')' && --depth == 0)
        break;
    }
    at = std::min(at, rest_.size());
    std::string_view comment = rest_.substr(1, at - 1);
    rest_.remove_prefix(std::min(at + 1, rest_.size()));
    return comment;
  }

  std::string_view rest_;
};

}  // namespace

bool came_through_us(const RequestHead& head, std::string_view via_id) {
  for (const Field& field : head.fields) {
    if (field.id != FieldId::via) continue;
    ViaEntries entries(field.value);
    for (ViaEntry entry; entries.next(entry);) {
      if (!equals_ignoring_case(entry.received_by, kPseudonym)) continue;
      if (!entry.has_comment || entry.comment == via_id) return true;
    }
  }
  return false;
}

}  // namespace headrace::http
