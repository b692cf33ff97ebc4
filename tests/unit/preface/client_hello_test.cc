#include "preface/client_hello.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "hello_bytes.h"

namespace headrace::preface {
namespace {

// A reader sees memory of exactly the size that was received, so that a sanitizer sees a read
// beyond it.
Parse<ClientHello> read_exactly(ClientHelloReader& reader, std::string_view bytes) {
  const std::vector<uint8_t> copy(bytes.begin(), bytes.end());
  return reader.read(copy);
}

// In words: the name in quotes, "no name", "needs more", or the reason.
std::string told(const Parse<ClientHello>& parsed) {
  if (parsed.needs_more()) return "needs more";
  if (parsed.failed()) return std::string(name_of(parsed.error()));
  return parsed->server_name ? '"' + *parsed->server_name + '"' : "no name";
}

std::string told(std::string_view bytes) {
  ClientHelloReader reader;
  return told(read_exactly(reader, bytes));
}

// The hello needs every byte of it, gives `expected` with whatever behind it, and the same when it
// comes in pieces of `piece` bytes.
void expect_whole(std::string_view hello, const std::string& expected, size_t piece = 1) {
  ClientHelloReader by_pieces;
  for (size_t cut = piece; cut < hello.size(); cut += piece)
    ASSERT_EQ(told(read_exactly(by_pieces, hello.substr(0, cut))), "needs more") << "cut " << cut;
  EXPECT_EQ(told(read_exactly(by_pieces, hello)), expected);
  EXPECT_EQ(told(hello.substr(0, hello.size() - 1)), "needs more");
  for (const std::string& payload : {""s, "\x14\x03\x03\0\x01\x01"s, "\x17\x03\x03"s, "\xff"s}) {
    ClientHelloReader reader;
    const Parse<ClientHello> parsed = read_exactly(reader, std::string(hello) + payload);
    EXPECT_EQ(told(parsed), expected);
    EXPECT_EQ(parsed.consumed_bytes(), hello.size());
  }
}

// ---- hellos of real clients ----

class RealHello : public testing::TestWithParam<const char*> {
 protected:
  std::string bytes() const {
    std::ifstream file(std::string(HEADRACE_REAL_HELLOS) + "/" + GetParam(), std::ios::binary);
    EXPECT_TRUE(file) << GetParam();
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string expected() const {
    return std::string_view(GetParam()).ends_with("_no_name") ? "no name" : "\"o.example.test\"";
  }
};
INSTANTIATE_TEST_SUITE_P(Clients, RealHello,
                         testing::Values("openssl", "openssl_no_name", "openssl_tls12",
                                         "openssl_many_groups", "curl", "gnutls", "gnutls_no_name",
                                         "chromium"),
                         [](const auto& instance) { return std::string(instance.param); });

TEST_P(RealHello, is_read_at_any_segmentation) {
  expect_whole(bytes(), expected());
}

TEST_P(RealHello, is_read_in_records_of_any_size) {
  const std::string message = bytes().substr(5);
  for (const size_t record_bytes : {1, 2, 3, 4, 5, 100, 512})
    expect_whole(records(message, record_bytes), expected(), 97);
}

// ---- names ----

TEST(client_hello, b173_the_name_is_told_as_it_was_sent) {
  for (const std::string& name : {"o.example.test"s, "O.EXAMPLE.TEST"s, "o.example.test."s,
                                  "192.0.2.1"s, "a\"\n\0b"s, std::string(16'000, 'n')})
    EXPECT_EQ(told(hello_for(name)), '"' + name + '"');
}

TEST(client_hello, b173_no_name_is_no_fault) {
  EXPECT_EQ(told(record(hello_message(""))), "no name");
  EXPECT_EQ(told(record(hello_message(extension(43, "\x02\x03\x04"s)))), "no name");
  EXPECT_EQ(told(record(handshake(HelloFields().body()))), "no name");  // no extensions at all
}

TEST(client_hello, names_of_unknown_types_are_passed_over) {
  EXPECT_EQ(told(record(hello_message(server_name(name_entry("x", 1))))), "no name");
  EXPECT_EQ(told(record(hello_message(server_name(name_entry("x", 7) + name_entry("o.test"))))),
            "\"o.test\"");
}

TEST(client_hello, what_two_servers_could_read_differently_is_refused) {
  const std::string twice_in_list = server_name(name_entry("a.test") + name_entry("b.test"));
  const std::string one = server_name(name_entry("a.test"));
  for (const std::string& extensions :
       {twice_in_list, one + one, one + server_name(name_entry("b.test")),
        server_name(name_entry("")), server_name(""), extension(0, ""), extension(0, "\0"s),
        extension(0, vector16(name_entry("a.test")) + "x"),
        extension(0, "\0\x0c"s + name_entry("a.test")),
        extension(0, vector16("\0\0\x09"
                              "a.test"s)),
        extension(0, vector16("\0\0"s)), one + "\0"s, one + "\0\x10\0\x05x"s})
    EXPECT_EQ(told(record(hello_message(extensions))), "malformed");
}

// ---- the message ----

TEST(client_hello, fields_that_do_not_add_up_are_malformed) {
  const auto told_with = [](auto change) {
    HelloFields fields;
    fields.extensions = vector16(server_name(name_entry("a.test")));
    change(fields);
    return told(record(handshake(fields.body())));
  };
  EXPECT_EQ(told_with([](HelloFields&) {}), "\"a.test\"");
  EXPECT_EQ(told_with([](HelloFields& f) { f.version = "\x03\x01"s; }), "\"a.test\"");
  EXPECT_EQ(told_with([](HelloFields& f) { f.session_id = vector8(""); }), "\"a.test\"");
  EXPECT_EQ(told_with([](HelloFields& f) { f.session_id = vector8(std::string(33, 's')); }),
            "malformed");
  EXPECT_EQ(told_with([](HelloFields& f) { f.cipher_suites = vector16(""); }), "malformed");
  EXPECT_EQ(told_with([](HelloFields& f) { f.cipher_suites = vector16("abc"); }), "malformed");
  EXPECT_EQ(told_with([](HelloFields& f) { f.compression_methods = vector8(""); }), "malformed");
  EXPECT_EQ(told_with([](HelloFields& f) { f.extensions += 'x'; }), "malformed");
  EXPECT_EQ(told_with([](HelloFields& f) { f.extensions.pop_back(); }), "malformed");
  EXPECT_EQ(told_with([](HelloFields& f) { f.extensions = "\0"s; }), "malformed");
}

TEST(client_hello, a_body_that_ends_early_anywhere_is_malformed) {
  HelloFields fields;
  const std::string without_extensions = fields.body();
  fields.extensions = vector16(server_name(name_entry("a.test")));
  const std::string body = fields.body();
  for (size_t bytes = 0; bytes < body.size(); ++bytes) {
    if (bytes == without_extensions.size()) continue;
    EXPECT_EQ(told(record(handshake(body.substr(0, bytes)))), "malformed") << bytes;
  }
}

TEST(client_hello, bytes_behind_the_message_in_its_record_are_malformed) {
  const std::string message = hello_message(server_name(name_entry("a.test")));
  EXPECT_EQ(told(record(message + "x")), "malformed");
  EXPECT_EQ(told(record(message + message)), "malformed");
  EXPECT_EQ(told(record(message.substr(0, 3)) + record(message.substr(3) + "x")), "malformed");
}

TEST(client_hello, other_messages_and_protocols_are_refused_at_their_first_byte) {
  for (const std::string& first : {"G"s, "S"s, "\x05"s, "\x15"s, "\x17"s, "\x80"s, "\0"s, "\n"s})
    EXPECT_EQ(told(first), "malformed");
  EXPECT_EQ(told("\x16\x02"s), "malformed");
  EXPECT_EQ(told("\x16\xfe"s), "malformed");  // DTLS
  EXPECT_EQ(told(record(handshake("", 2))), "malformed");
  EXPECT_EQ(told(record(handshake("", 1))), "malformed");
}

TEST(client_hello, another_record_in_the_middle_is_malformed) {
  const std::string message = hello_message(server_name(name_entry("a.test")));
  const std::string first = record(message.substr(0, 20));
  EXPECT_EQ(told(first), "needs more");
  EXPECT_EQ(told(first + "\x15"s), "malformed");
  EXPECT_EQ(told(first + "\x16\x03\x01\0\0"s), "malformed") << "an empty record";
}

TEST(client_hello, records_beyond_the_limit_of_tls_are_malformed) {
  EXPECT_EQ(told("\x16\x03\x01\x40\x00"s), "needs more");
  EXPECT_EQ(told("\x16\x03\x01\x40\x01"s), "malformed");
}

// ---- limits ----

// With an extension that fills it up.
std::string message_of(size_t bytes) {
  const std::string name = server_name(name_entry("o.example.test"));
  const size_t filling = bytes - hello_message(name + extension(21, "")).size();
  return hello_message(extension(21, std::string(filling, '\0')) + name);
}

TEST(client_hello, up_to_64_kib_are_read) {
  const std::string largest = message_of(ClientHelloReader::kHelloBytesMax);
  ASSERT_EQ(largest.size(), ClientHelloReader::kHelloBytesMax);
  expect_whole(records(largest, 16 * 1024), "\"o.example.test\"", 4099);
  expect_whole(records(largest, 100), "\"o.example.test\"", 4099);
}

TEST(client_hello, beyond_64_kib_is_too_large_as_soon_as_that_is_known) {
  EXPECT_EQ(told(record("\x01\x00\xff\xfc"s)), "needs more");
  EXPECT_EQ(told(record("\x01\x00\xff\xfd"s)), "too_large");
  EXPECT_EQ(told(record("\x01\xff"s) + record("\xff\xff"s)), "too_large");
}

TEST(client_hello, what_is_kept_of_a_client_is_bounded) {
  const std::string crumbs = records(message_of(ClientHelloReader::kHelloBytesMax), 1);
  constexpr size_t kMax = ClientHelloReader::kReceivedBytesMax;
  ASSERT_GT(crumbs.size(), kMax);
  EXPECT_EQ(told(crumbs.substr(0, kMax - 1)), "needs more");
  EXPECT_EQ(told(crumbs.substr(0, kMax)), "too_large");
  EXPECT_EQ(told(crumbs), "too_large");
}

}  // namespace
}  // namespace headrace::preface
