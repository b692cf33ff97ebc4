#include "http/target_form.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "http/chars.h"

namespace headrace::http {
namespace {

constexpr uint16_t kHttpPort = 80;
constexpr Error kMalformed{Errc::malformed, Side::client};
constexpr Error kUnsupported{Errc::unsupported, Side::client};

// RFC 9112 section 3.2: HTTP/1.1 needs exactly one Host with a valid value, and 1.0 at most one. It
// may be empty where the target has no authority; that it is not used makes a bad one no better.
bool host_field_is_valid(const RequestHead& head) {
  const Field* host = nullptr;
  for (const Field& field : head.fields) {
    if (field.id != FieldId::host) continue;
    if (host) return false;
    host = &field;
  }
  if (!host) return head.minor_version == 0;
  return consists_of(kHostChar, host->value);
}

// The authority of an http URI: a port is optional, but a colon needs one behind it.
std::optional<Target> parse_authority(std::string_view authority) {
  size_t bracket = authority.rfind(']');
  size_t colon = authority.find(':', bracket == std::string_view::npos ? 0 : bracket);
  if (colon != std::string_view::npos) return Target::parse(authority);
  std::optional<Host> host = Host::parse(authority);
  if (!host) return std::nullopt;
  return Target{std::move(*host), kHttpPort};
}

Result<RequestTarget> absolute_form(const RequestHead& head, size_t scheme_bytes) {
  if (!equals_ignoring_case(head.target.substr(0, scheme_bytes), "http")) return kUnsupported;
  std::string_view rest = head.target.substr(scheme_bytes + 3);
  size_t path_begin = std::min(rest.find_first_of("/?"), rest.size());
  std::optional<Target> target = parse_authority(rest.substr(0, path_begin));
  if (!target) return kMalformed;
  std::string_view path_and_query = rest.substr(path_begin);
  if (path_and_query.empty() && head.method == "OPTIONS") path_and_query = "*";
  return RequestTarget{RequestTarget::Form::absolute, std::move(*target), path_and_query};
}

bool is_scheme(std::string_view text) {
  auto is_letter = [](char c) { return to_lower(c) >= 'a' && to_lower(c) <= 'z'; };
  return !text.empty() && is_letter(text.front()) &&
         std::all_of(text.begin(), text.end(), [&](char c) {
           return is_letter(c) || is_digit(c) || c == '+' || c == '-' || c == '.';
         });
}

// nullopt where the field is absent or no number; then it passes as it came.
std::optional<uint64_t> max_forwards_of(const RequestHead& head) {
  if (head.method != "TRACE" && head.method != "OPTIONS") return std::nullopt;
  const Field* field = find_field(head.fields, FieldId::max_forwards);
  return field ? parse_number<uint64_t>(field->value) : std::nullopt;
}

}  // namespace

Result<RequestTarget> request_target(const RequestHead& head) {
  using Form = RequestTarget::Form;
  if (!host_field_is_valid(head)) return kMalformed;
  if (head.target.find('#') != std::string_view::npos) return kMalformed;

  if (head.method == "CONNECT") {
    std::optional<Target> target = Target::parse(head.target);
    if (!target) return kMalformed;
    return RequestTarget{Form::authority, std::move(*target), {}};
  }
  if (head.target.starts_with('/')) return RequestTarget{Form::origin, {}, head.target};
  if (head.target == "*") {
    if (head.method != "OPTIONS") return kMalformed;
    return RequestTarget{Form::asterisk, {}, head.target};
  }
  size_t scheme_bytes = head.target.find("://");
  if (scheme_bytes == std::string_view::npos || !is_scheme(head.target.substr(0, scheme_bytes)))
    return kMalformed;
  return absolute_form(head, scheme_bytes);
}

void RequestTarget::append_origin_form(std::string& out) const {
  if (path_and_query.empty() || path_and_query.front() == '?') out += '/';
  out += path_and_query;
}

void RequestTarget::append_host(std::string& out) const {
  if (target.host.is_name())
    out += target.host.name();
  else
    out += target.host.to_string();
  if (target.port != kHttpPort) {
    out += ':';
    out += std::to_string(target.port);
  }
}

bool must_stop_here(const RequestHead& head) {
  return max_forwards_of(head) == uint64_t{0};
}

}  // namespace headrace::http
