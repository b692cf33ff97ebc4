#include "app/cli.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <deque>
#include <optional>
#include <vector>

#include "app/help_texts.h"
#include "config/nearest_name.h"
#include "config/options_table.h"
#include "config/words.h"

namespace headrace::app {
namespace {

using config::in_quotes;
using session::Protocol;
using Outcome = std::variant<config::Settings, Printout>;

constexpr int kBadConfiguration = 1;
constexpr int kWrongUsage = 2;

constexpr std::string_view kOptionsTopic = "options";

// A command that serves: what CLI11 calls it, and what CLI11 fills.
struct Service {
  // A flag that is short for a key.
  struct KeyFlag {
    std::string flag;
    std::string key;
    std::vector<std::string> texts;
  };

  CLI::App* command = nullptr;
  ServiceArguments arguments;
  std::vector<std::string> sets;  // KEY=VALUE
  std::deque<KeyFlag> key_flags;  // a deque, as CLI11 keeps pointers to its members
};

Printout print(std::string output) {
  return Printout{0, std::move(output), {}};
}

// Wrong usage, in words, with the page that helps.
Printout not_understood(std::string reason, std::string_view help_topic = {}) {
  reason += reason.ends_with('?') ? " See headrace help" : "; see headrace help";
  if (!help_topic.empty()) reason += ' ' + std::string(help_topic);
  return Printout{kWrongUsage, {}, "headrace: " + reason + '\n'};
}

std::string suggestion(std::string_view nearest) {
  return nearest.empty() ? std::string() : "; did you mean " + std::string(nearest) + "?";
}

// Why `command` did not take its first unknown argument.
std::string unknown_argument_text(const CLI::App& command) {
  const std::vector<std::string> unknown = command.remaining();
  const std::string written = unknown.empty() ? "?" : unknown.front();
  if (!written.starts_with('-')) return in_quotes(written) + " is one argument too many";

  // Compared without dashes, which all flags have in common; a key is what --set wants.
  std::vector<std::string_view> names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back(name);
  const size_t flag_count = names.size();
  for (const config::Option& option : config::options()) names.push_back(option.name);

  const std::string flag = written.substr(0, written.find('='));
  const size_t dashes = std::min(flag.find_first_not_of('-'), flag.size());
  const std::string_view nearest =
      config::nearest_name(std::string_view(flag).substr(dashes), names);
  const bool is_flag =
      std::find(names.begin(), names.begin() + flag_count, nearest) != names.begin() + flag_count;
  std::string meant;
  if (!nearest.empty())
    meant = is_flag ? "--" + std::string(nearest) : "--set " + std::string(nearest) + "=VALUE";
  return in_quotes(flag) + " is no option of headrace " + command.get_name() + suggestion(meant);
}

// What to say of a command that is none of `names`.
std::optional<Printout> fault_of_command(std::string_view written,
                                         std::span<const std::string_view> names) {
  if (std::find(names.begin(), names.end(), written) != names.end()) return std::nullopt;
  return not_understood(in_quotes(written) + " is no command" +
                        suggestion(config::nearest_name(written, names)));
}

// All commands, as CLI11 knows them.
class Parser {
 public:
  Parser();
  Outcome read(std::span<const std::string> arguments, const Environment& environment);

 private:
  void add_service(Protocol protocol);
  std::vector<std::string_view> command_names() const;
  std::optional<Printout> parse(std::span<const std::string> arguments);
  Printout help(const std::string& topic) const;
  Outcome serve(Service& service, const Environment& environment);

  CLI::App app_{kProgramText, "headrace"};
  std::string program_help_;
  std::deque<Service> services_;
  CLI::App* version_ = nullptr;
  CLI::App* help_ = nullptr;
  std::string help_topic_;
};

Parser::Parser() {
  app_.require_subcommand(1);
  app_.get_formatter()->column_width(kHelpColumn);
  app_.get_formatter()->label("SUBCOMMAND", "COMMAND");
  app_.set_version_flag("--version", version_text(), "Print the version");
  app_.set_help_flag("-h,--help", "Print this help");
  for (const Protocol protocol :
       {Protocol::http, Protocol::socks, Protocol::mixed, Protocol::relay, Protocol::sni})
    add_service(protocol);
  version_ = app_.add_subcommand("version", "Print the version")->group("Commands");
  help_ = app_.add_subcommand("help", "Explain a command, or all configuration keys (options)");
  help_->group("Commands");
  help_->add_option("TOPIC", help_topic_, "A command, or: options")->option_text(" ");
  app_.footer(kProgramFooter);
  program_help_ = app_.help();  // once parsed, this would be about the command
}

void Parser::add_service(Protocol protocol) {
  Service& service = services_.emplace_back();
  ServiceArguments& arguments = service.arguments;
  arguments.protocol = protocol;
  const bool is_relay = protocol == Protocol::relay;
  const bool is_sni = protocol == Protocol::sni;
  CLI::App& command = *app_.add_subcommand(std::string(name_of(protocol)), summary_of(protocol));
  service.command = &command;
  command.group("Commands")->footer(footer_of(protocol));

  const auto add = [&command](const char* name, auto& value, const char* value_name,
                              const std::string& sentence) {
    return command.add_option(name, value, config::wrapped(sentence, kHelpTextColumns))
        ->type_name(value_name)
        ->option_text(value_name);
  };
  // Repeatable options take one value each time, so that an ADDR may follow.
  const auto add_repeatable = [&add](const char* name, std::vector<std::string>& values,
                                     const char* value_name, const char* sentence) {
    return add(name, values, value_name, sentence)->allow_extra_args(false);
  };
  const auto add_key_flag = [&](const char* flag, const char* key, const char* value_name,
                                const char* sentence) {
    service.key_flags.push_back({flag, key, {}});
    add_repeatable(flag, service.key_flags.back().texts, value_name, sentence);
  };
  const auto add_switch = [&command](const char* name, bool& value, const char* sentence) {
    return command.add_flag(name, value, config::wrapped(sentence, kHelpTextColumns))
        ->disable_flag_override();
  };

  add("ADDR", arguments.listen, "...", address_text_of(protocol))
      ->required(default_address_of(protocol).empty());
  if (is_relay) {
    add("--to", arguments.to, "HOST:PORT", kToText)->required();
    add_switch("--to-tls", arguments.to_tls, kToTlsText);
    add_key_flag("--to-ca", "to_tls.ca", "FILE", kToCaText);
    add_key_flag("--to-name", "to_tls.name", "NAME", kToNameText);
    add_switch("--to-insecure", arguments.to_insecure, kToInsecureText);
  }
  if (is_sni) {
    add("--to", arguments.to, "HOST:PORT", kSniToText);
    add_key_flag("--to-port", "to_port", "PORT", kToPortText);
  }
  add_repeatable("--allow", arguments.allow, "CIDR", kAllowText);
  // Every service takes these; the help of one for which they do nothing is silent about them.
  const std::string group = is_relay ? "" : "Options";
  const std::string users_group = is_relay || is_sni ? "" : "Options";
  add_repeatable("--user", arguments.users, "NAME:PASSWORD", kUserText)->group(users_group);
  add_switch("--open", arguments.open, kOpenText)->group(group);
  add_switch("--allow-private", arguments.allow_private, kAllowPrivateText)->group(group);
  add_key_flag("--workers", "workers", "N|auto", kWorkersText);
  add_key_flag("--engine", "engine", "auto|epoll|io_uring", kEngineText);
  add_key_flag("--splice", "splice", "auto|always|never", kSpliceText);
  add_key_flag("--access-log", "access_log", "FILE|-|off", kAccessLogText);
  add_key_flag("--log-level", "log_level", "error|warn|info|debug", kLogLevelText);
  const std::string tls_group = is_sni ? "" : "Options";
  add_repeatable("--tls-cert", arguments.tls_certificates, "FILE", kTlsCertificateText)
      ->group(tls_group);
  add_repeatable("--tls-key", arguments.tls_keys, "FILE", kTlsKeyText)->group(tls_group);
  add_repeatable("--set", service.sets, "KEY=VALUE", kSetText);
}

std::vector<std::string_view> Parser::command_names() const {
  std::vector<std::string_view> names;
  for (const Service& service : services_) names.push_back(name_of(service.arguments.protocol));
  names.push_back("version");
  names.push_back("help");
  return names;
}

Printout Parser::help(const std::string& topic) const {
  if (topic.empty()) return print(program_help_);
  std::vector<std::string_view> topics = command_names();
  topics.push_back(kOptionsTopic);
  if (std::optional<Printout> fault = fault_of_command(topic, topics)) return *fault;
  if (topic == kOptionsTopic) return print(config::options_page());
  return print(app_.get_subcommand(topic)->help(app_.get_name()));
}

// Fills the members; what to print instead where that is asked for or needed.
std::optional<Printout> Parser::parse(std::span<const std::string> arguments) {
  const std::string& first = arguments.front();
  const bool is_option = first.starts_with('-');
  if (is_option) {
    if (first == "-h" || first == "--help") return help({});
    if (first == "--version") return print(version_text() + '\n');
    return not_understood("a command must stand before " + in_quotes(first));
  }
  // CLI11 would say that a command is missing where one is misspelled.
  if (std::optional<Printout> fault = fault_of_command(first, command_names())) return fault;

  try {
    // CLI11 takes them from the back.
    app_.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    return help(first);
  } catch (const CLI::ExtrasError&) {
    return not_understood(unknown_argument_text(*app_.get_subcommand(first)), first);
  } catch (const CLI::ParseError& error) {
    return not_understood(error.what(), first);
  }
  return std::nullopt;
}

Outcome Parser::serve(Service& service, const Environment& environment) {
  ServiceArguments& arguments = service.arguments;
  for (const Service::KeyFlag& flag : service.key_flags)
    for (const std::string& text : flag.texts)
      arguments.assignments.push_back({flag.flag, flag.key, text});
  for (const std::string& set : service.sets) {
    const size_t equals = set.find('=');
    if (equals == set.npos)
      return not_understood("--set: " + in_quotes(set) + " is not KEY=VALUE",
                            name_of(arguments.protocol));
    const std::string key = set.substr(0, equals);
    arguments.assignments.push_back({"--set " + key, key, set.substr(equals + 1)});
  }

  std::variant<config::Settings, Faults> settings = settings_of(arguments, environment);
  if (auto* good = std::get_if<config::Settings>(&settings)) return std::move(*good);
  Printout printout{kBadConfiguration, {}, {}};
  for (const std::string& fault : std::get<Faults>(settings))
    printout.error_output += "headrace: " + fault + '\n';
  return printout;
}

Outcome Parser::read(std::span<const std::string> arguments, const Environment& environment) {
  if (arguments.empty()) return Printout{kWrongUsage, {}, program_help_};
  if (std::optional<Printout> printout = parse(arguments)) return *printout;
  if (version_->parsed()) return print(version_text() + '\n');
  for (Service& service : services_)
    if (service.command->parsed()) return serve(service, environment);
  return help(help_topic_);
}

}  // namespace

std::variant<config::Settings, Printout> read_command_line(std::span<const std::string> arguments,
                                                           const Environment& environment) {
  Parser parser;
  return parser.read(arguments, environment);
}

}  // namespace headrace::app
