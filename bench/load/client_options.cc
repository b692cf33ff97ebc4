#include "client_options.h"

#include <algorithm>
#include <cstdio>
#include <limits>

namespace headrace::load {
namespace {

constexpr uint32_t kConnectionsMax = 10'000'000;
constexpr uint32_t kRateConnections = 9000;
constexpr double kSecondsMax = 1e6;
constexpr double kRateMax = 1e7;
constexpr uint64_t kBodyBytesMax = uint64_t{1} << 40;
constexpr uint64_t kMessageBytesMax = 64 * 1024;

void read_scenario(Args& args, ClientOptions& options) {
  static constexpr std::pair<std::string_view, ScenarioKind> kScenarios[] = {
      {"request", ScenarioKind::request}, {"stream", ScenarioKind::stream},
      {"mix", ScenarioKind::mix},         {"rate", ScenarioKind::rate},
      {"message", ScenarioKind::message}, {"idle", ScenarioKind::idle},
  };
  const std::string_view word = args.take_word().value_or("");
  for (const auto& [name, kind] : kScenarios) {
    if (name != word) continue;
    options.scenario = kind;
    options.scenario_name = name;
    return;
  }
  args.fault("no scenario: request, stream, mix, rate, message or idle");
}

void read_way(Args& args, ClientOptions& options) {
  for (const std::string_view text : args.take_all("connect")) {
    if (const std::optional<Address> address = parse_address(text)) {
      options.connect.push_back(*address);
    } else {
      args.fault("--connect: not a numeric HOST:PORT: " + std::string(text));
    }
  }
  if (options.connect.empty()) args.fault("--connect is missing");
  args.take_choice("mode", options.mode,
                   {{"plain", Mode::plain},
                    {"http", Mode::http},
                    {"connect", Mode::connect},
                    {"socks5", Mode::socks5}});
  static constexpr const char* kNames[] = {"plain", "http", "connect", "socks5"};
  options.mode_name = kNames[static_cast<size_t>(options.mode)];
  if (const auto target = args.take("target")) {
    options.target = *target;
    const size_t colon = target->rfind(':');
    if (colon == std::string_view::npos || colon == 0 || colon > 255 ||
        !parse_number<uint16_t>(target->substr(colon + 1))) {
      args.fault("--target: not HOST:PORT: " + options.target);
    }
  } else if (!options.connect.empty()) {
    options.target = options.connect.front().text();
  }
  if (const auto source = args.take("source")) {
    options.source = SourceRange::parse(*source);
    if (!options.source) args.fault("--source: not A-B: " + std::string(*source));
  }
}

void read_user(Args& args, ClientOptions& options) {
  const std::optional<std::string_view> user = args.take("user");
  if (!user) return;
  const size_t colon = user->find(':');
  if (colon == 0 || colon == std::string_view::npos || colon > 255 || user->size() - colon > 256) {
    return args.fault("--user: not NAME:PASSWORD of at most 255 bytes each");
  }
  options.user = {std::string(user->substr(0, colon)), std::string(user->substr(colon + 1))};
}

void read_tls(Args& args, ClientOptions& options) {
  options.tls = args.take_flag("tls");
  options.tls_options.ca_file = args.take("tls-ca").value_or("");
  options.tls_options.name = args.take("tls-name").value_or("");
  options.tls_options.resume = args.take_flag("tls-resume");
  if (!options.tls && (!options.tls_options.ca_file.empty() || !options.tls_options.name.empty())) {
    args.fault("--tls-ca and --tls-name need --tls");
  }
}

void read_common(Args& args, ClientOptions& options) {
  if (options.scenario == ScenarioKind::rate) options.connections = kRateConnections;
  args.take_number<uint32_t>("connections", options.connections, 1, kConnectionsMax);
  args.take_number<uint32_t>("connecting", options.connecting, 1, kConnectionsMax);
  args.take_number("seconds", options.seconds, 0.001, kSecondsMax);
  args.take_number("warmup", options.warmup_seconds, 0.0, kSecondsMax);
  args.take_number("timeout", options.timeout_seconds, 0.001, kSecondsMax);
  args.take_number("establish", options.establish_seconds, 0.001, kSecondsMax);
  args.take_number<uint64_t>("seed", options.seed, 0, std::numeric_limits<uint64_t>::max());
  args.take_choice("check", options.check,
                   {{"full", Check::full}, {"sampled", Check::sampled}, {"length", Check::length}});
}

void read_bodies(Args& args, ClientOptions& options) {
  args.take_number<uint64_t>("answer", options.answer_bytes, 0, kBodyBytesMax);
  args.take_number<uint64_t>("body", options.body_bytes, 0, kBodyBytesMax);
  options.path = args.take("path").value_or("");
  if (!options.path.empty() && options.path.front() != '/') args.fault("--path: starts with /");
}

void read_open_loop(Args& args, ClientOptions& options) {
  args.take_number("rate", options.rate, 0.001, kRateMax);
  args.take_choice("arrivals", options.arrivals,
                   {{"poisson", Arrivals::poisson}, {"fixed", Arrivals::fixed}});
}

void read_mix(Args& args, ClientOptions& options) {
  double think_ms = options.think_seconds * 1e3;
  args.take_number("think-ms", think_ms, 0.0, kSecondsMax);
  options.think_seconds = think_ms / 1e3;
  // An HTTP proxy may take a client that shuts down its sending side for one that has gone, and
  // most TLS libraries close both ways on close_notify; tunnels and relays have to carry it on.
  if (options.mode == Mode::http || options.tls) options.half_close_share = 0;
  args.take_number("half-close", options.half_close_share, 0.0, 1.0);
  options.active = std::max<uint32_t>(1, options.connections / 10);
  args.take_number<uint32_t>("active", options.active, 1, options.connections);
  read_open_loop(args, options);
}

void read_own(Args& args, ClientOptions& options) {
  switch (options.scenario) {
    case ScenarioKind::request:
      read_bodies(args, options);
      args.take_number<uint32_t>("requests-per-connection", options.requests_per_connection, 0,
                                 std::numeric_limits<uint32_t>::max());
      break;
    case ScenarioKind::stream:
      args.take_choice("direction", options.direction,
                       {{"up", Direction::up}, {"down", Direction::down}});
      break;
    case ScenarioKind::mix:
      read_mix(args, options);
      break;
    case ScenarioKind::rate:
      options.rate = 1000;
      options.arrivals = Arrivals::poisson;
      read_open_loop(args, options);
      read_bodies(args, options);
      break;
    case ScenarioKind::message:
      args.take_number<uint64_t>("size", options.message_bytes, 1, kMessageBytesMax);
      args.take_number("interval", options.interval_seconds, 0.001, kSecondsMax);
      break;
    case ScenarioKind::idle:
      options.exchanges_before_idle = options.mode == Mode::http ? 1 : 0;
      args.take_number<uint32_t>("exchanges", options.exchanges_before_idle, 0, 1'000'000);
      read_bodies(args, options);
      break;
  }
  const bool raw =
      options.scenario == ScenarioKind::stream || options.scenario == ScenarioKind::message;
  if (raw && options.mode == Mode::http) {
    args.fault("--mode http carries requests only; " + options.scenario_name + " needs a tunnel");
  }
}

}  // namespace

std::optional<ClientOptions> read_client_options(Args args) {
  ClientOptions options;
  read_scenario(args, options);
  read_way(args, options);
  read_user(args, options);
  read_tls(args, options);
  read_common(args, options);
  read_own(args, options);
  if (const std::optional<std::string> fault = args.finish()) {
    std::fprintf(stderr, "headrace-load client: %s\n", fault->c_str());
    return std::nullopt;
  }
  return options;
}

}  // namespace headrace::load
