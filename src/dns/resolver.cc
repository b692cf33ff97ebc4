#include "dns/resolver.h"

#include <array>
#include <string_view>
#include <vector>

#include "dns/cache.h"
#include "dns/query.h"
#include "dns/system.h"

namespace headrace::dns {
namespace {

constexpr std::array kFamilies = {IpAddress::Family::v4, IpAddress::Family::v6};

}  // namespace

class Resolver::Impl final : public Query::Owner {
 public:
  Impl(net::Loop& loop, const Options& options, std::vector<std::string> servers)
      : loop_(loop),
        timeout_(options.timeout),
        given_servers_(std::move(servers)),
        hosts_file_(options.hosts_path),
        resolv_conf_(options.resolv_conf_path) {
    use({});  // until the file was read
  }

  void resolve(const std::string& name, Lookup& lookup);
  const Stats& stats() {
    stats_.evicted = cache_.evicted();
    return stats_;
  }

 private:
  void look_at_files();
  void use(std::string_view resolv_conf);
  bool answer_from_hosts(const std::string& name, Lookup& lookup);
  // Whether nothing needs to be asked about this family.
  bool holds(Entry& entry, IpAddress::Family family) const;
  void ask(Entry& entry);
  void start(Query& query);
  void start_waiting();
  void retire(Query& query);
  static void tell(Lookup& lookup, IpAddress::Family family, const Answer& answer);

  void answered(Query& query, IpAddress::Family family, Answer answer) override;
  void finished(Query& query) override;

  net::Loop& loop_;
  net::Duration timeout_;
  std::vector<std::string> given_servers_;  // empty: the system's
  WatchedFile hosts_file_;
  WatchedFile resolv_conf_;
  Hosts hosts_;
  ServerSettings settings_;
  size_t preferred_server_ = 0;
  Stats stats_;
  size_t in_flight_ = 0;
  List<Query, QueueTag> waiting_;
  Cache cache_{kCacheNamesMax};
};

void Resolver::Impl::look_at_files() {
  if (const std::optional<std::string> text = hosts_file_.read_if_changed(loop_.now()))
    hosts_ = Hosts::parse(*text);
  if (const std::optional<std::string> text = resolv_conf_.read_if_changed(loop_.now())) use(*text);
}

void Resolver::Impl::use(std::string_view resolv_conf) {
  settings_ = ServerSettings::parse(resolv_conf, own_domain());
  if (!given_servers_.empty()) settings_.servers = given_servers_;
  preferred_server_ = 0;
}

void Resolver::Impl::resolve(const std::string& name, Lookup& lookup) {
  ++stats_.names;
  look_at_files();
  if (answer_from_hosts(name, lookup)) return;

  Entry& entry = cache_.get(name);
  if (holds(entry, kFamilies[0]) && holds(entry, kFamilies[1])) {
    ++stats_.cache_hits;
  } else {
    entry.lookups.push_back(lookup);
    if (!entry.query) ask(entry);
  }
  for (const IpAddress::Family family : kFamilies)
    if (!lookup.of(family).answered && holds(entry, family))
      tell(lookup, family, entry.of(family).answer);
}

bool Resolver::Impl::answer_from_hosts(const std::string& name, Lookup& lookup) {
  const std::vector<IpAddress>* const addresses = hosts_.find(name);
  if (!addresses) return false;
  ++stats_.cache_hits;
  for (const IpAddress::Family family : kFamilies) {
    Answer answer;
    for (const IpAddress& address : *addresses)
      if (address.family() == family) answer.addresses.push_back(address);
    if (answer.addresses.empty()) answer.error = Errc::name_unknown;
    tell(lookup, family, answer);
  }
  return true;
}

bool Resolver::Impl::holds(Entry& entry, IpAddress::Family family) const {
  // While the other family is being asked about, this one's answer is not asked for again.
  if (entry.query) return !entry.query->open(family);
  return loop_.now() < entry.of(family).until;
}

void Resolver::Impl::ask(Entry& entry) {
  auto query =
      std::make_unique<Query>(loop_, *this, &entry, settings_.candidates(*entry.name), timeout_);
  for (const IpAddress::Family family : kFamilies)
    if (!holds(entry, family)) query->expect(family);
  entry.query = std::move(query);
  cache_.touch(entry);
  waiting_.push_back(*entry.query);
  if (in_flight_ >= kNamesInFlightMax) ++stats_.waited;
  start_waiting();
}

void Resolver::Impl::start_waiting() {
  while (in_flight_ < kNamesInFlightMax && !waiting_.empty()) {
    Query& query = waiting_.pop_front();
    if (static_cast<Entry*>(query.key())->lookups.empty()) {
      retire(query);  // everybody has gone
    } else {
      start(query);
    }
  }
}

void Resolver::Impl::start(Query& query) {
  ++in_flight_;
  query.start(settings_.servers, preferred_server_);
  if (settings_.rotate) preferred_server_ = (preferred_server_ + 1) % settings_.servers.size();
  if (query.done()) retire(query);
}

// Takes the query out of its entry and destroys it.
void Resolver::Impl::retire(Query& query) {
  Entry& entry = *static_cast<Entry*>(query.key());
  if (query.started()) --in_flight_;
  stats_.queries += query.questions();
  // A server that did not answer in time, while another did, is not asked first by the next name.
  if (query.tries_lost() > 0 && query.first_server() == preferred_server_)
    preferred_server_ = (preferred_server_ + query.tries_lost()) % settings_.servers.size();
  entry.lookups.clear();
  entry.query.reset();
  cache_.touch(entry);
}

void Resolver::Impl::answered(Query& query, IpAddress::Family family, Answer answer) {
  Entry& entry = *static_cast<Entry*>(query.key());
  if (answer.error && *answer.error != Errc::name_unknown) ++stats_.failures;
  Entry::Known& known = entry.of(family);
  known.until = loop_.now() + answer.keep;
  known.answer = std::move(answer);
  for (Lookup& lookup : entry.lookups) {
    if (lookup.of(family).answered) continue;
    tell(lookup, family, known.answer);
    loop_.make_ready(lookup.owner_);
  }
}

void Resolver::Impl::finished(Query& query) {
  retire(query);
  start_waiting();
}

void Resolver::Impl::tell(Lookup& lookup, IpAddress::Family family, const Answer& answer) {
  Lookup::Family& told = lookup.of(family);
  told.answered = true;
  told.addresses = answer.addresses;
  told.error = answer.error;
}

Result<std::unique_ptr<Resolver>> Resolver::create(net::Loop& loop, const Options& options) {
  std::vector<std::string> servers;
  if (!options.servers.empty()) {
    const auto parsed = parse_servers(options.servers);
    if (!parsed) return Error{Errc::malformed, Side::local};
    for (const net::Endpoint& server : *parsed) servers.push_back(server.to_string());
  }
  return std::unique_ptr<Resolver>(
      new Resolver(std::make_unique<Impl>(loop, options, std::move(servers))));
}

Resolver::Resolver(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Resolver::~Resolver() = default;

void Resolver::resolve(const std::string& name, Lookup& lookup) {
  impl_->resolve(name, lookup);
}
const Stats& Resolver::stats() const {
  return impl_->stats();
}

}  // namespace headrace::dns
