#include "http/rewrite.h"

#include <charconv>
#include <span>

#include "base/text.h"

namespace headrace::http {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

void append_number(uint64_t value, std::string& out) {
  char digits[20];
  char* end = std::to_chars(std::begin(digits), std::end(digits), value).ptr;
  out.append(digits, end);
}

void append_content_length(uint64_t bytes, std::string& out) {
  out += "Content-Length: ";
  append_number(bytes, out);
  out += kLineEnd;
}

// Copies the lines for which `keeps` holds, neighbours in one piece. For the others `instead` may
// write something in their place.
template <class Keeps, class Instead>
void copy_lines(std::span<const Field> fields, std::string_view lines, std::string& out,
                Keeps keeps, Instead instead) {
  const char* const end = lines.data() + lines.size();
  const char* uncopied = lines.data();
  for (size_t i = 0; i < fields.size(); ++i) {
    if (keeps(fields[i])) continue;
    const char* line = fields[i].name.data();
    out.append(uncopied, line - uncopied);
    instead(fields[i]);
    uncopied = i + 1 < fields.size() ? fields[i + 1].name.data() : end;
  }
  out.append(uncopied, end - uncopied);
}

// Of the fields with a meaning of their own, those that pass in both directions.
bool is_end_to_end(const Field& field, const ConnectionOptions& connection) {
  switch (field.id) {
    case FieldId::other:
    case FieldId::expect:
    case FieldId::max_forwards:
      return !connection.nominates(field);
    case FieldId::via:
      return true;
    default:
      return false;
  }
}

void append_framing(BodyLength body, std::string& out) {
  switch (body.kind) {
    case BodyLength::Kind::length:
      append_content_length(body.bytes, out);
      break;
    case BodyLength::Kind::chunked:
      out += "Transfer-Encoding: chunked\r\n";
      break;
    case BodyLength::Kind::none:
    case BodyLength::Kind::until_close:
      break;
  }
}

void append_via_and_end(int received_minor_version, std::string_view via_id, std::string& out) {
  out += received_minor_version == 0 ? "Via: 1.0 " : "Via: 1.1 ";
  out += kPseudonym;
  out += " (";
  out += via_id;
  out += ")\r\n\r\n";
}

// One less than what came; a value that is no number is for the next hop to judge.
void append_max_forwards(const Field& field, std::string& out) {
  std::optional<uint64_t> left = parse_number<uint64_t>(field.value);
  out += "Max-Forwards: ";
  if (left)
    append_number(*left > 0 ? *left - 1 : 0, out);
  else
    out += field.value;
  out += kLineEnd;
}

bool counts_forwards(const RequestHead& head) {
  return head.method == "TRACE" || head.method == "OPTIONS";
}

// In answers to HEAD and in 304 the length is information, not framing. framing.cc has checked it.
bool announces_length(const ForwardedResponse& response) {
  int status = response.head.status;
  return response.body.kind == BodyLength::Kind::none && status >= 200 && status != 204;
}

void append_announced_length(const ResponseHead& head, std::string& out) {
  const Field* field = find_field(head.fields, FieldId::content_length);
  if (!field || find_field(head.fields, FieldId::transfer_encoding)) return;
  std::optional<std::string_view> first = ListMembers(field->value).next();
  if (std::optional<uint64_t> bytes = parse_number<uint64_t>(*first))
    append_content_length(*bytes, out);
}

}  // namespace

void append_request_head(const ForwardedRequest& request, std::string& out) {
  const RequestHead& head = request.head;
  out += head.method;
  out += ' ';
  request.target.append_origin_form(out);
  out += " HTTP/1.1\r\nHost: ";
  request.target.append_host(out);
  out += kLineEnd;

  const bool counting = counts_forwards(head);
  auto keeps = [&](const Field& field) {
    if (field.id == FieldId::upgrade) return request.connection.upgrade;
    if (field.id == FieldId::expect && head.minor_version == 0) return false;
    if (field.id == FieldId::max_forwards && counting) return false;
    return is_end_to_end(field, request.connection);
  };
  auto instead = [&](const Field& field) {
    if (field.id == FieldId::max_forwards && counting) append_max_forwards(field, out);
  };
  copy_lines(head.fields, head.field_lines, out, keeps, instead);

  append_framing(request.body, out);
  if (request.connection.upgrade) out += "Connection: upgrade\r\n";
  append_via_and_end(head.minor_version, request.via_id, out);
}

void append_response_head(const ForwardedResponse& response, std::string& out) {
  const ResponseHead& head = response.head;
  out += "HTTP/1.1 ";
  append_number(static_cast<uint64_t>(head.status), out);
  out += ' ';
  out += head.reason;
  out += kLineEnd;

  const bool upgrade = head.status == 101 || head.status == 426;
  auto keeps = [&](const Field& field) {
    if (field.id == FieldId::upgrade) return upgrade;
    if (field.id == FieldId::proxy_status) return !response.connection.nominates(field);
    return is_end_to_end(field, response.connection);
  };
  copy_lines(head.fields, head.field_lines, out, keeps, [](const Field&) {});

  append_framing(response.body, out);
  if (announces_length(response)) append_announced_length(head, out);
  if (upgrade) out += "Connection: upgrade\r\n";
  if (response.close || response.body.kind == BodyLength::Kind::until_close)
    out += "Connection: close\r\n";
  append_via_and_end(head.minor_version, response.via_id, out);
}

}  // namespace headrace::http
