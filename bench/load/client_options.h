// What the client is asked to do; README.md has the options' meanings and defaults.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "args.h"
#include "exchange.h"
#include "schedule.h"
#include "socket.h"
#include "tls.h"
#include "tunnel.h"

namespace headrace::load {

enum class Mode : uint8_t { plain, http, connect, socks5 };
enum class Direction : uint8_t { up, down };
enum class ScenarioKind : uint8_t { request, stream, mix, rate, message, idle };

struct ClientOptions {
  ScenarioKind scenario = ScenarioKind::request;
  std::string scenario_name;
  std::vector<Address> connect;
  Mode mode = Mode::plain;
  std::string mode_name = "plain";
  std::string target;
  Credentials user;
  bool tls = false;
  TlsClientOptions tls_options;
  uint32_t connections = 64;
  uint32_t connecting = 256;
  double seconds = 10;
  double warmup_seconds = 1;
  double timeout_seconds = 10;
  double establish_seconds = 60;
  std::optional<SourceRange> source;
  Check check = Check::sampled;
  uint64_t seed = 1;

  uint64_t answer_bytes = 1024;
  uint64_t body_bytes = 0;
  uint32_t requests_per_connection = 0;  // 0: no limit
  std::string path;
  Direction direction = Direction::up;
  uint32_t active = 0;  // 0: a tenth of the connections
  double think_seconds = 0.020;
  double rate = 0;  // 0: closed loop
  Arrivals arrivals = Arrivals::fixed;
  double half_close_share = 0.05;
  uint64_t message_bytes = 64;
  double interval_seconds = 1;
  uint32_t exchanges_before_idle = 0;
};

// Reads the words behind `client`; nothing, and a reason on standard error, when they are wrong.
std::optional<ClientOptions> read_client_options(Args args);

}  // namespace headrace::load
