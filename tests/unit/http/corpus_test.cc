// Our parser beside an independent one, libhttp_parser (once Node's), on the heads of
// heads_corpus/. Where a head is not listed in differences.txt both refuse it, or both read the
// same out of it, down to where its body ends. Where it is listed, they differ in just the way that
// is written there.
//
// Debian builds the library without its strict mode, so it is laxer than it could be, not wrong.
#include <gtest/gtest.h>
#include <http_parser.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/text.h"
#include "heads.h"
#include "http/framing.h"

namespace headrace::http {
namespace {

struct CorpusHead {
  std::string name;
  bool is_request;
  std::string bytes;
};

std::string unescaped(std::string_view text) {
  std::string bytes;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\') {
      bytes += text[at];
      continue;
    }
    switch (text[++at]) {
      case 'r':
        bytes += '\r';
        break;
      case 'n':
        bytes += '\n';
        break;
      case 't':
        bytes += '\t';
        break;
      case 'x':
        bytes += static_cast<char>(*parse_number<uint8_t>(text.substr(at + 1, 2), 16));
        at += 2;
        break;
      default:
        bytes += text[at];
    }
  }
  return bytes;
}

std::vector<std::vector<std::string>> read_table(const std::string& file_name) {
  std::ifstream file(std::string(HEADRACE_HEADS_CORPUS) + "/" + file_name);
  EXPECT_TRUE(file) << file_name;
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream cells(line);
    std::vector<std::string>& row = rows.emplace_back();
    for (std::string cell; std::getline(cells, cell, '\t');) row.push_back(cell);
    EXPECT_EQ(row.size(), 3u) << line;
  }
  return rows;
}

std::vector<CorpusHead> read_heads() {
  std::vector<CorpusHead> heads;
  for (const auto& row : read_table("heads.txt"))
    heads.push_back({row[0], row[1] == "request", unescaped(row[2])});
  return heads;
}

constexpr std::string_view kRefused = "refused";

std::string described(std::string_view start, int minor_version, const std::string& fields,
                      std::string_view body) {
  return std::string(start) + " 1." + std::to_string(minor_version) + fields + " body " +
         std::string(body);
}

std::string described(const Result<BodyLength>& body) {
  switch (body->kind) {
    case BodyLength::Kind::length:
      return std::to_string(body->bytes);
    case BodyLength::Kind::chunked:
      return "chunked";
    case BodyLength::Kind::none:
    case BodyLength::Kind::until_close:
      return "unknown";
  }
  return {};
}
// What we read out of a head, or kRefused; a refused framing counts like a refused head, as the
// library checks both in one.
std::string ours(const CorpusHead& corpus_head) {
  HeadCursor cursor;
  if (corpus_head.is_request) {
    RequestHead head;
    if (!parse_request_head(corpus_head.bytes, cursor, head)) return std::string(kRefused);
    Result<BodyLength> body = request_body(head);
    if (!body) return std::string(kRefused);
    return described(std::string(head.method) + " " + std::string(head.target), head.minor_version,
                     described(head.fields), described(body));
  }
  ResponseHead head;
  if (!parse_response_head(corpus_head.bytes, cursor, head)) return std::string(kRefused);
  Result<BodyLength> body = response_body(head, "GET");
  if (!body) return std::string(kRefused);
  return described(std::to_string(head.status) + " " + std::string(head.reason), head.minor_version,
                   described(head.fields), described(body));
}

// Collects what libhttp_parser reports. Its callbacks may cut a text in pieces.
struct Theirs {
  std::string url;
  std::string reason;
  std::vector<std::pair<std::string, std::string>> fields;
  bool within_name = false;
  bool complete = false;

  static Theirs& of(http_parser* parser) { return *static_cast<Theirs*>(parser->data); }
  static int on_url(http_parser* parser, const char* at, size_t bytes) {
    of(parser).url.append(at, bytes);
    return 0;
  }
  static int on_status(http_parser* parser, const char* at, size_t bytes) {
    of(parser).reason.append(at, bytes);
    return 0;
  }
  static int on_name(http_parser* parser, const char* at, size_t bytes) {
    Theirs& self = of(parser);
    if (!self.within_name) self.fields.emplace_back();
    self.within_name = true;
    self.fields.back().first.append(at, bytes);
    return 0;
  }
  static int on_value(http_parser* parser, const char* at, size_t bytes) {
    Theirs& self = of(parser);
    self.within_name = false;
    self.fields.back().second.append(at, bytes);
    return 0;
  }
  // Ends the parsing there: the body is not our subject. 2 means "no body, and another protocol".
  static int on_headers_complete(http_parser* parser) {
    of(parser).complete = true;
    return 2;
  }
};

std::string body_theirs(const http_parser& parser) {
  // A status without body keeps the library's content_length, but it does not frame anything.
  bool bodiless =
      parser.type == HTTP_RESPONSE &&
      (parser.status_code / 100 == 1 || parser.status_code == 204 || parser.status_code == 304);
  if (bodiless) return "unknown";
  if (parser.flags & F_CHUNKED) return "chunked";
  if (parser.flags & F_CONTENTLENGTH) return std::to_string(parser.content_length);
  return "unknown";
}

std::string theirs(const CorpusHead& corpus_head) {
  http_parser_settings settings;
  http_parser_settings_init(&settings);
  settings.on_url = Theirs::on_url;
  settings.on_status = Theirs::on_status;
  settings.on_header_field = Theirs::on_name;
  settings.on_header_value = Theirs::on_value;
  settings.on_headers_complete = Theirs::on_headers_complete;
  http_parser parser;
  http_parser_init(&parser, corpus_head.is_request ? HTTP_REQUEST : HTTP_RESPONSE);
  Theirs result;
  parser.data = &result;
  http_parser_execute(&parser, &settings, corpus_head.bytes.data(), corpus_head.bytes.size());
  if (!result.complete || parser.http_major != 1) return std::string(kRefused);

  std::string fields;
  for (const auto& [name, value] : result.fields)
    fields += " [" + name + "=" + std::string(trimmed(value)) + "]";
  std::string start =
      corpus_head.is_request
          ? http_method_str(static_cast<http_method>(parser.method)) + (" " + result.url)
          : std::to_string(parser.status_code) + " " + result.reason;
  return described(start, parser.http_minor, fields, body_theirs(parser));
}

std::string relation(const std::string& our_reading, const std::string& their_reading) {
  if (our_reading == their_reading) return "same";
  if (our_reading == kRefused) return "stricter";
  if (their_reading == kRefused) return "laxer";
  return "different";
}

TEST(corpus, we_and_libhttp_parser_agree_but_for_the_differences_written_down) {
  std::map<std::string, std::vector<std::string>> differences;
  for (const auto& row : read_table("differences.txt")) differences[row[0]] = row;
  const std::vector<CorpusHead> heads = read_heads();
  EXPECT_GE(heads.size(), 300u);
  for (const CorpusHead& head : heads) {
    auto difference = differences.extract(head.name);
    std::string expected = difference ? difference.mapped()[1] : "same";
    std::string our_reading = ours(head);
    std::string their_reading = theirs(head);
    EXPECT_EQ(relation(our_reading, their_reading), expected)
        << head.name << "\nours:   " << our_reading << "\ntheirs: " << their_reading;
  }
  for (const auto& [name, row] : differences) ADD_FAILURE() << "no such head: " << name;
}

TEST(corpus, every_head_is_read_the_same_in_every_delivery) {
  for (const CorpusHead& head : read_heads()) {
    std::string reading =
        head.is_request ? parsed_request(head.bytes) : parsed_response(head.bytes);
    EXPECT_NE(reading, "more") << head.name;
  }
}

}  // namespace
}  // namespace headrace::http
