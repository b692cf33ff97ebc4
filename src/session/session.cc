#include "session/session.h"

#include <algorithm>

#include "base/log_line.h"

namespace headrace::session {

void Session::start(Worker& worker, Listener& listener, UniqueFd client,
                    std::optional<net::Endpoint> address) {
  auto* session = new Session(worker, listener, address);  // owned by the worker
  worker.adopt(*session);
  if (!session->client_.open(worker.loop, std::move(client))) {
    session->note_refusal(Error{Errc::out_of_memory, Side::local});
    return session->end();
  }
  session->set_up_ = serve(*session);
  session->set_up_.start();
  session->run_set_up();
}

Session::Session(Worker& worker, Listener& listener, std::optional<net::Endpoint> address)
    : worker_(worker),
      listener_(listener),
      client_(*this),
      timer_(*this),
      client_address_(address) {}

Session::~Session() {
  if (tunnel_) tunnel_->abandon(worker_.mover);
  listener_.note_closed(worker_.index);
}

void Session::run() {
  if (tunnel_) return run_tunnel();
  if (timer_.expired() && !verdict_) verdict_ = Errc::timed_out;
  if (slot_.occupied()) slot_.resume();
  run_set_up();
}

// After the coroutine has stopped for now: is it over?
void Session::run_set_up() {
  if (!set_up_.done()) return;
  set_up_ = {};
  if (tunnel_) return run_tunnel();
  end();
}

void Session::begin_set_up() {
  set_up_left_ = {};
  arm_deadline(options().setup_timeout);
}

void Session::pause_set_up() {
  if (!timer_.armed()) return;
  set_up_left_ = std::max(net::Duration(), timer_.when() - worker_.loop.now());
  disarm_deadline();
}

void Session::resume_set_up() {
  if (!timer_.armed()) arm_deadline(set_up_left_);
}

Result<Done> Session::wait_result() {
  if (!verdict_) return Done{};
  Errc what = *verdict_;
  // A deadline is over once it was told; being cut stays.
  if (what == Errc::timed_out) {
    verdict_.reset();
    timer_.disarm();
  }
  return Error{what, what == Errc::timed_out ? Side::client : Side::local};
}

net::IoResult Session::receive_into_inbox(size_t bytes_max) {
  HEADRACE_ASSERT(inbox.size() < bytes_max);
  MutableByteSpan scratch = worker_.mover.scratch();
  size_t room = std::min(scratch.size(), bytes_max - inbox.size());
  net::IoResult in = client_.receive(scratch.first(room));
  if (in.moved()) inbox.append(scratch.first(in.bytes));
  return in;
}

void Session::start_tunnel(std::string_view reply) {
  tunnel_ = std::make_unique<relay::Relay>();
  tunnel_->start(options().splice);
  tunnel_->prepend_from_upstream(as_bytes(reply));
  tunnel_->prepend_from_client(inbox.bytes());
  inbox.clear();
  upstream->socket.set_owner(*this);
  last_activity_ = worker_.loop.now();
  worker_.stats.tunnels.add();
  arm_tunnel_timer();
}

void Session::arm_tunnel_timer() {
  net::Duration limit = half_closed_ ? options().half_closed_timeout : options().idle_timeout;
  worker_.loop.arm_at(timer_, last_activity_ + limit);
}

relay::Progress Session::step_tunnel() {
  relay::ParkingScope parking(worker_.mover, first_phase());
  return tunnel_->step(client_, upstream->socket, worker_.mover);
}

void Session::run_tunnel() {
  if (verdict_) return finish_tunnel(name_of(*verdict_), true);
  uint64_t moved_before = tunnel_->up().moved_bytes() + tunnel_->down().moved_bytes();
  relay::Progress progress = step_tunnel();
  uint64_t moved = tunnel_->up().moved_bytes() + tunnel_->down().moved_bytes();
  if (moved != moved_before) last_activity_ = worker_.loop.now();
  switch (progress.kind) {
    case relay::Progress::Kind::completed:
      return finish_tunnel("ok", false);
    case relay::Progress::Kind::broken: {
      std::string result(name_of(progress.error->whose));
      result += "_";
      result += name_of(progress.error->what);
      return finish_tunnel(result, true);
    }
    case relay::Progress::Kind::again:
      run_again();
      break;
    case relay::Progress::Kind::parked:
      run_late();
      break;
    case relay::Progress::Kind::waiting:
      break;
  }
  if (tunnel_->half_closed() != half_closed_) {
    half_closed_ = !half_closed_;
    last_activity_ = worker_.loop.now();
    arm_tunnel_timer();
  }
  if (timer_.expired() && tunnel_timed_out()) finish_tunnel(name_of(Errc::timed_out), true);
}

// The timer is not touched on each byte; when it fires we look how long it has really been silent.
bool Session::tunnel_timed_out() {
  net::Duration limit = half_closed_ ? options().half_closed_timeout : options().idle_timeout;
  if (last_activity_ + limit <= worker_.loop.now()) return true;
  arm_tunnel_timer();
  return false;
}

void Session::finish_tunnel(std::string_view result, bool reset) {
  uint64_t up = tunnel_->up().moved_bytes();
  uint64_t down = tunnel_->down().moved_bytes();
  worker_.stats.bytes_up.add(up);
  worker_.stats.bytes_down.add(down);
  if (Account* entry = account()) {
    entry->bytes_up += up;
    entry->bytes_down += down;
    entry->spliced |= tunnel_->up().has_spliced() || tunnel_->down().has_spliced();
    entry->dialled = upstream->address;
    log_access(result);
  }
  reset_at_end_ = reset;
  end();
}

void Session::drain() {
  if (resting_) cut();
}

void Session::cut() {
  verdict_ = Errc::cancelled;
  worker_.loop.make_ready(*this);
}

void Session::end() {
  if (reset_at_end_) {
    client_.reset();
    if (upstream) upstream->socket.reset();
  } else if (client_.layer()) {
    // Whoever ended without it has nothing left to send. Does nothing where it was said already.
    (void)client_.shut_writes();
  }
  worker_.release(*this);  // we are gone
}

access::Client Session::access_client() const {
  if (!client_address_) return {};
  return access::Client{client_address_->address, told_from_elsewhere_};
}

void Session::set_told_ends(const net::Endpoint& client, const net::Endpoint& destination) {
  told_from_elsewhere_ = !access_client().is_on_this_host();
  client_address_ = client;
  told_destination_ = std::make_unique<net::Endpoint>(destination);
}

std::optional<net::Endpoint> Session::client_destination() const {
  if (told_destination_) return *told_destination_;
  return net::local_endpoint(client_.fd());
}

Account* Session::account() {
  if (!options().access_log) return nullptr;
  if (!account_) {
    account_ = std::make_unique<Account>();
    account_->started = worker_.loop.now();
  }
  return account_.get();
}

// How the bytes went.
std::string_view Session::path_name(bool spliced) const {
  const auto in_kernel = [](const net::Layer* layer) {
    return layer && (layer->can_splice_in() || layer->can_splice_out());
  };
  const net::Layer* to_upstream = upstream ? upstream->socket.layer() : nullptr;
  if (in_kernel(client_.layer()) || in_kernel(to_upstream)) return "ktls";
  if (spliced) return "splice";
  return client_.layer() || to_upstream ? "tls" : "copy";
}

void Session::log_access(std::string_view result) {
  Account* entry = account();
  if (!entry) return;
  LogLine line;
  line.add("listener", options().name).add("protocol", protocol_name_);
  line.add("client", client_address_ ? client_address_->to_string() : "unix");
  if (client_.layer()) {
    std::string subject = client_.layer()->verified_name();
    if (!subject.empty()) line.add("subject", subject);
  }
  if (!entry->user.empty()) line.add("user", entry->user);
  if (!entry->method.empty()) line.add("method", entry->method);
  line.add("target", entry->target);
  if (entry->dialled) line.add("dialled", entry->dialled->to_string());
  if (entry->status != 0) line.add("status", static_cast<uint64_t>(entry->status));
  line.add("up", entry->bytes_up).add("down", entry->bytes_down);
  auto duration = worker_.loop.now() - entry->started;
  line.add_seconds("duration", static_cast<uint64_t>(duration.count()));
  line.add("result", result).add("path", path_name(entry->spliced));
  line.add("worker", static_cast<uint64_t>(worker_.index));
  worker_.log.write_access(*options().access_log, line.text());
  account_.reset();
}

void Session::note_refusal(const Error& error, std::string_view target, std::string_view details) {
  worker_.stats.refused[static_cast<size_t>(error.what)].add();
  LogLevel level = error.whose == Side::local ? LogLevel::warn : LogLevel::info;
  if (!worker_.log.wants(level)) return;
  LogLine line;
  line.add("event", "refused").add("reason", name_of(error.what)).add("side", name_of(error.whose));
  line.add("listener", options().name).add("protocol", protocol_name_);
  line.add("client", client_address_ ? client_address_->to_string() : "unix");
  if (!target.empty()) line.add("target", target);
  if (!details.empty()) line.add("details", details);
  if (error.os_errno != 0) line.add("errno", static_cast<uint64_t>(error.os_errno));
  worker_.log.write(level, line.text());
}

}  // namespace headrace::session
