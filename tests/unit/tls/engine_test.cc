// Two engines that speak with each other through memory: no socket, no clock.
#include "tls/engine.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tls/client_context.h"
#include "tls/library.h"
#include "tls/server_context.h"

namespace headrace::tls {
namespace {

std::string text_of(BIO* bio) {
  char* bytes = nullptr;
  const long count = BIO_get_mem_data(bio, &bytes);
  return {bytes, static_cast<size_t>(count)};
}

// Signed by itself, P-256.
Identity make_identity() {
  EVP_PKEY_CTX* generator = EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nullptr);
  EVP_PKEY* made = nullptr;
  EVP_PKEY_keygen_init(generator);
  EVP_PKEY_CTX_set_ec_paramgen_curve_nid(generator, NID_X9_62_prime256v1);
  EVP_PKEY_keygen(generator, &made);
  EVP_PKEY_CTX_free(generator);
  const OwnedKey key(made);
  const OwnedCertificate certificate(X509_new());
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -60);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
  X509_NAME* name = X509_get_subject_name(certificate.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const uint8_t*>("o.example.test"), -1, -1, 0);
  X509_set_issuer_name(certificate.get(), name);
  char names[] = "DNS:o.example.test";
  X509_EXTENSION* extension = X509V3_EXT_nconf_nid(nullptr, nullptr, NID_subject_alt_name, names);
  X509_add_ext(certificate.get(), extension, -1);
  X509_EXTENSION_free(extension);
  X509_set_pubkey(certificate.get(), key.get());
  X509_sign(certificate.get(), key.get(), EVP_sha256());
  const OwnedBio pem(BIO_new(BIO_s_mem()));
  const OwnedBio key_pem(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(pem.get(), certificate.get());
  PEM_write_bio_PrivateKey(key_pem.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  return {text_of(pem.get()), text_of(key_pem.get()), {}, "made.pem"};
}

class EngineTest : public testing::Test {
 protected:
  EngineTest() {
    std::string fault;
    server_context_ =
        ServerContext::create({}, {make_identity()}, {}, {}, std::make_shared<TicketKeys>(), fault);
    ClientOptions options;
    options.insecure = true;
    client_context_ = ClientContext::create(options, {}, std::nullopt, fault);
    EXPECT_EQ(fault, "");
    server = std::make_unique<Engine>(server_space, *server_context_, nullptr);
    client = std::make_unique<Engine>(client_space, *client_context_, "o.example.test", false,
                                      "o.example.test:443", nullptr);
  }

  static std::vector<uint8_t> take(Workspace& space) { return std::exchange(space.output(), {}); }

  // Each flight in pieces of so many bytes.
  void shake_hands(size_t piece_bytes) {
    ByteSpan nothing;
    Step client_step = client->shake_hands(nothing);
    Step server_step = Step::needs_input;
    for (int flights = 0; flights < 10; ++flights) {
      server_step = feed(*server, take(client_space), server_step, piece_bytes);
      client_step = feed(*client, take(server_space), client_step, piece_bytes);
      if (client_step == Step::done && server_step == Step::done && client_space.output().empty())
        return;
    }
    FAIL() << "no end of the handshake";
  }

  static Step feed(Engine& engine, const std::vector<uint8_t>& bytes, Step step,
                   size_t piece_bytes) {
    uint8_t plain[64];
    for (ByteSpan rest(bytes); !rest.empty();) {
      ByteSpan piece = rest.first(std::min(piece_bytes, rest.size()));
      rest = rest.subspan(piece.size());
      while (!piece.empty()) {
        size_t got = 0;
        if (step == Step::done)  // tickets
          EXPECT_EQ(engine.read(piece, plain, got), Step::needs_input);
        else
          step = engine.shake_hands(piece);
        if (step == Step::failed) ADD_FAILURE() << engine.failure_text();
        if (step == Step::failed) return step;
      }
    }
    return step;
  }

  std::string read_all(Engine& engine, std::vector<uint8_t> cipher, size_t room, Step& last) {
    std::string all;
    std::vector<uint8_t> buffer(room);
    ByteSpan input(cipher);
    do {
      size_t got = 0;
      last = engine.read(input, buffer, got);
      all.append(reinterpret_cast<const char*>(buffer.data()), got);
    } while (last == Step::done);
    EXPECT_TRUE(input.empty() || last != Step::needs_input);
    return all;
  }

  Workspace server_space, client_space;
  std::unique_ptr<ServerContext> server_context_;
  std::unique_ptr<ClientContext> client_context_;
  std::unique_ptr<Engine> server, client;
};

// The store is made to refuse every chain that it is asked about, after the first one.
TEST_F(EngineTest, a_chain_found_good_is_not_looked_at_again) {
  const Identity identity = make_identity();
  std::string fault;
  server_context_ =
      ServerContext::create({}, {identity}, {}, {}, std::make_shared<TicketKeys>(), fault);
  ClientOptions options;
  options.ca = identity.file;
  client_context_ = ClientContext::create(options, identity.certificate, std::nullopt, fault);
  ASSERT_EQ(fault, "");
  const auto shake = [&](const char* destination) {
    server = std::make_unique<Engine>(server_space, *server_context_, nullptr);
    client = std::make_unique<Engine>(client_space, *client_context_, "o.example.test", false,
                                      destination, nullptr);
    ByteSpan nothing;
    client->shake_hands(nothing);
    const std::vector<uint8_t> hello = take(client_space);
    ByteSpan from_client(hello);
    server->shake_hands(from_client);
    const std::vector<uint8_t> answer = take(server_space);
    ByteSpan from_server(answer);
    const Step step = client->shake_hands(from_server);
    take(client_space);
    return step;
  };
  EXPECT_EQ(shake("o.example.test:443"), Step::done);
  SSL* connection = client_context_->open_connection("o.example.test", false, "elsewhere");
  X509_STORE_set_flags(SSL_CTX_get_cert_store(SSL_get_SSL_CTX(connection)), X509_V_FLAG_CRL_CHECK);
  SSL_free(connection);
  EXPECT_EQ(shake("o.example.test:443"), Step::done);
  EXPECT_EQ(shake("o.example.test:444"), Step::failed);
  EXPECT_TRUE(client->certificate_refused());
}

TEST_F(EngineTest, a_handshake_comes_about_at_any_size_of_pieces) {
  for (const size_t piece_bytes : {1, 2, 5, 6, 100, 100'000}) {
    server = std::make_unique<Engine>(server_space, *server_context_, nullptr);
    client = std::make_unique<Engine>(client_space, *client_context_, "o.example.test", false,
                                      "o.example.test:443", nullptr);
    shake_hands(piece_bytes);
    ASSERT_FALSE(HasFatalFailure()) << piece_bytes;
  }
}

TEST_F(EngineTest, bytes_come_out_as_they_went_in_at_any_room) {
  shake_hands(100'000);
  std::string text;
  for (int i = 0; text.size() < 100'000; ++i) text += std::to_string(i);
  for (const size_t room : {1'000, 16'384, 200'000}) {
    ASSERT_TRUE(client->write(as_bytes(text)));
    Step last = Step::failed;
    EXPECT_TRUE(read_all(*server, take(client_space), room, last) == text) << room;
    EXPECT_EQ(last, Step::needs_input);
    EXPECT_FALSE(server->pending());
  }
}

TEST_F(EngineTest, close_notify_ends_one_way_only) {
  shake_hands(100'000);
  ASSERT_TRUE(client->write(as_bytes("last")));
  client->close();
  Step last = Step::failed;
  EXPECT_EQ(read_all(*server, take(client_space), 100, last), "last");
  EXPECT_EQ(last, Step::closed);
  ASSERT_TRUE(server->write(as_bytes("answer")));
  EXPECT_EQ(read_all(*client, take(server_space), 100, last), "answer");
  EXPECT_EQ(last, Step::needs_input);
}

TEST_F(EngineTest, a_changed_byte_fails_and_makes_an_alert) {
  shake_hands(100'000);
  ASSERT_TRUE(client->write(as_bytes("text")));
  std::vector<uint8_t> cipher = take(client_space);
  cipher.back() ^= 1;
  Step last = Step::done;
  EXPECT_EQ(read_all(*server, cipher, 100, last), "");
  EXPECT_EQ(last, Step::failed);
  EXPECT_FALSE(server_space.output().empty());
  EXPECT_STRNE(server->failure_text(), "");
}

}  // namespace
}  // namespace headrace::tls
