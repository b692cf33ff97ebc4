#include "http/connection.h"

#include <optional>

#include "base/text.h"

namespace headrace::http {
namespace {

struct Options {
  bool close = false;
  bool keep_alive = false;
  bool upgrade = false;
};

// Reads the list of one line. `named` collects the field names among the options, where nominating
// counts; fields with an id are dropped, rewritten or protected whether nominated or not, but for
// the two that are end-to-end.
std::optional<Errc> read_options(std::string_view value, Options& out, ConnectionOptions* named) {
  ListMembers members(value);
  while (std::optional<std::string_view> member = members.next()) {
    if (member->empty()) continue;  // RFC 9110 section 5.6.1: to be tolerated
    if (!is_token(*member)) return Errc::malformed;
    if (equals_ignoring_case(*member, "close")) {
      out.close = true;
      continue;
    }
    FieldId id = identify_field(*member);
    if (id == FieldId::keep_alive) out.keep_alive = true;
    if (id == FieldId::upgrade) out.upgrade = true;
    bool can_be_nominated = id == FieldId::other || id == FieldId::expect ||
                            id == FieldId::max_forwards || id == FieldId::proxy_status;
    if (!named || !can_be_nominated) continue;
    if (named->nominated_count == kNominatedMax) return Errc::too_large;
    named->nominated[named->nominated_count++] = *member;
  }
  return std::nullopt;
}

struct Read {
  Options connection;
  Options proxy_connection;
  bool has_upgrade_field = false;
};

std::optional<Errc> read_fields(std::span<const Field> fields, Read& out,
                                ConnectionOptions& named) {
  for (const Field& field : fields) {
    std::optional<Errc> fault;
    if (field.id == FieldId::connection)
      fault = read_options(field.value, out.connection, &named);
    else if (field.id == FieldId::proxy_connection)
      fault = read_options(field.value, out.proxy_connection, nullptr);
    else if (field.id == FieldId::upgrade)
      out.has_upgrade_field |= !field.value.empty();
    if (fault) return fault;
  }
  return std::nullopt;
}

}  // namespace

bool ConnectionOptions::nominates(const Field& field) const {
  for (size_t i = 0; i < nominated_count; ++i)
    if (equals_ignoring_case(nominated[i], field.name)) return true;
  return false;
}

Result<ConnectionOptions> connection_options(const RequestHead& head) {
  ConnectionOptions options;
  Read read;
  if (std::optional<Errc> fault = read_fields(head.fields, read, options))
    return Error{*fault, Side::client};
  bool close = read.connection.close || read.proxy_connection.close;
  options.persistent = head.minor_version >= 1 && !close;
  options.upgrade = head.minor_version >= 1 && read.connection.upgrade && read.has_upgrade_field;
  return options;
}

Result<ConnectionOptions> connection_options(const ResponseHead& head) {
  ConnectionOptions options;
  Read read;
  if (std::optional<Errc> fault = read_fields(head.fields, read, options))
    return Error{*fault, Side::upstream};
  // "Proxy-Connection: keep-alive" is not believed: an old proxy in between passes it through
  // unread.
  bool close = read.connection.close || read.proxy_connection.close;
  options.persistent = !close && (head.minor_version >= 1 || read.connection.keep_alive);
  options.upgrade = head.minor_version >= 1 && read.connection.upgrade && read.has_upgrade_field;
  return options;
}

}  // namespace headrace::http
