"""The plan, and the loop over it: one fresh setting, one proxy, one load, one row."""

import math
import os
import shutil
import subprocess
import time
from dataclasses import asdict, dataclass

from . import certificates, clients, link, network, proc, recipe, sides, wrk
from .clients import Load
from .errors import LabError
from .judge import DISTURBED_NOTED, disturbance, judge
from .measure import Meter
from .results import MEASURED, NAN, Run

IDLE_WINDOW_S = 2.0         # how long the CPU of held connections is looked at
SETTLED_PART = 0.002        # memory that moves by less than this between two looks has settled


@dataclass(frozen=True)
class Item:
    scenario: object
    peer: object
    rep: int


def build_plan(scenarios, peers, reps):
    """Repetition by repetition; within it scenario by scenario, the proxies' order turned by one each time,
    so that none always runs first or behind the same other."""
    plan = []
    for rep in range(reps):
        for scenario in scenarios:
            able = [peer for peer in peers if peer.serves(scenario.family)]
            turn = rep % len(able) if able else 0
            plan += [Item(scenario, peer, rep) for peer in able[turn:] + able[:turn]]
    return plan


@dataclass
class Options:
    placement: object
    seconds: float = 10.0
    warmup: float = 1.0
    client: str = "load"            # or wrk
    load_path: str = ""
    link_path: str = ""
    client_link: link.LinkSpec = link.LinkSpec()
    quota: float = 0.0              # of one CPU; 0: none
    connections: int = 0            # of mixes; 0: what the descriptor limit allows
    tolerated: float = 0.1          # share of the proxy's CPUs that others may take of a run that counts


class Runner:
    def __init__(self, session, options, store):
        self.session, self.options, self.store = session, options, store
        self.descriptors = sides.descriptor_limit()
        limit = sides.connection_limit(self.descriptors)
        self.connection_limit = min(options.connections, limit) if options.connections else limit
        self.certificate, self.key = certificates.create(session.scratch)
        self.link_method = link.choose(options.client_link, session.tag) if options.client_link.emulated else ""

    def run(self, item):
        """-> Run, details. A run that could not be measured is a row, too: marked, and of NaNs."""
        run_sides = sides.Sides(self.session, self.descriptors)
        measured = _Measured()
        directory = self.session.scratch / "run"
        directory.mkdir(exist_ok=True)
        try:
            self._measure(item, run_sides, directory, measured)
        except LabError as error:
            measured.failure = str(error)
        finally:
            run_sides.end()
            self.session.groups.remove()
            self.session.network.remove()
            shutil.rmtree(directory, ignore_errors=True)
        for name, text in measured.configs.items():
            self.store.write_config(f"{item.peer.name}-{item.scenario.family}-{name}", text)
        return self._row(item, measured), measured.details

    def _measure(self, item, run_sides, directory, measured):
        options, session = self.options, self.session
        session.groups.create(options.placement, options.quota)
        session.network.create(options.placement, emulated_client_link=self.link_method == "headrace-link")
        self._set_up_link(run_sides, item.rep)
        origin = clients.start_origin(run_sides, item.scenario, item.peer, options.client, options.load_path,
                                      self.certificate, self.key)
        proxy = self._start_proxy(item, run_sides, directory, measured)
        session.groups.reset_peak("prx")
        meter = Meter(session.groups, options.placement,
                      {"srv": origin.pid, **({"prx": proxy.pid} if proxy else {})})
        measured.begin(meter, session.groups, item, options)
        client = self._client(item.scenario, directory)
        measured.load = client.run(run_sides, item.scenario, self._target(item), self.connection_limit,
                                   item.rep + 1, measured.on_event)
        measured.peak_bytes = measured.peak_bytes or session.groups.peak_bytes("prx")
        measured.proxy_died = bool(proxy) and proxy.poll() is not None
        measured.details["client_argv"] = measured.load.argv
        measured.details["result"] = measured.load.raw
        if proxy and (measured.proxy_died or measured.load.failure):
            measured.details["proxy_said"] = _tail(directory / "said")

    def _set_up_link(self, run_sides, rep):
        options, net = self.options, self.session.network
        if self.link_method == "netem":
            link.set_up_netem(options.client_link, net)
        elif self.link_method == "headrace-link":
            link.start_user_space(options.client_link, run_sides, net, options.link_path, rep + 1)
            net.steer("cli", "c0", options.placement.cli)
            net.steer("prx", "c1", options.placement.prx)

    def _start_proxy(self, item, run_sides, directory, measured):
        if item.peer.transparent:
            self.session.network.route_through()
            return None
        job = recipe.Job(
            family=item.scenario.family, listen=network.PROXY,
            origin=clients.origin_address(item.scenario, item.peer, self.options.client),
            workers=len(self.options.placement.prx),
            connections=clients.connections(item.scenario, self.connection_limit),
            descriptors=self.descriptors, directory=directory, certificate=self.certificate, key=self.key)
        launch = item.peer.launch(job)
        measured.details["proxy_argv"] = launch.argv
        measured.configs = job.files
        with open(directory / "said", "wb") as said:
            proxy = run_sides.start("prx", launch.argv, env=launch.env, stdin=subprocess.DEVNULL,
                                    stdout=said, stderr=said, cwd=directory)
        if not sides.wait_until_listening(proxy, job.listen.port):
            raise LabError(f"{item.peer.name} does not start: {_tail(directory / 'said') or 'it said nothing'}")
        return proxy

    def _client(self, scenario, directory):
        options = self.options
        if options.client == "wrk":
            return wrk.WrkClient(options.load_path, options.seconds, directory, len(options.placement.cli))
        return clients.LoadClient(options.load_path, options.seconds, max(options.warmup, scenario.least_warmup_s))

    def _target(self, item):
        origin = clients.origin_address(item.scenario, item.peer, self.options.client)
        family = item.scenario.family
        if item.peer.transparent:
            return clients.Target(origin, origin, "plain", family.startswith("tls"))
        return clients.Target(network.PROXY, origin, clients.MODES.get(family, "plain"), family == "tls-term")

    def _row(self, item, measured):
        load, cost, placement = measured.load, measured.cost, self.options.placement
        run = Run(item.peer.name, item.scenario.name, item.rep, gbit=load.gbit, rate=load.rate, p50_ms=load.p50_ms,
                  p90_ms=load.p90_ms, p99_ms=load.p99_ms, errors=load.errors, timeouts=load.timeouts)
        if item.scenario.kind == "idle":
            run.gbit = run.rate = run.p50_ms = run.p90_ms = run.p99_ms = NAN
        if cost:
            # The client's time and the samples' differ by the moment it takes us to wake up.
            length = load.seconds if load.seconds > 0 and item.scenario.kind != "idle" else cost.elapsed_s
            run.prx_cpu_s = cost.busy_s["prx"] / cost.elapsed_s * length
            run.prx_task_s = cost.used_s["prx"] / cost.elapsed_s * length
            gigabytes, requests = run.gbit / 8 * length, run.rate * length
            run.cpu_s_per_gb = run.prx_cpu_s / gigabytes if gigabytes > 0 else NAN
            run.cpu_us_per_req = run.prx_cpu_s / requests * 1e6 if requests > 0 else NAN
            run.retrans = cost.retransmitted
            run.cli_util, run.prx_util, run.srv_util = (cost.utilisation[r] for r in ("cli", "prx", "srv"))
            run.cli_thread, run.srv_thread = cost.busiest_thread["cli"], cost.busiest_thread["srv"]
            run.bound = cost.bound(placement, self.options.quota)
            measured.details["cost"] = asdict(cost)
            if cost.foreign_share + cost.steal_share > DISTURBED_NOTED:
                measured.details["disturbed"] = round(cost.foreign_share + cost.steal_share, 3)
        run.peak_mb = measured.peak_bytes / (1 << 20) if measured.peak_bytes else NAN
        mark = judge(load, measured.failure, measured.proxy_died)
        if not mark and item.scenario.kind != "idle":       # memory does not mind who else computes
            mark = disturbance(measured.details.get("disturbed", 0.0), self.options.tolerated)
        if mark:
            measured.details["mark"] = mark
            measured.details["left_out"] = {f: v for f in MEASURED if not math.isnan(v := getattr(run, f))}
            for column in MEASURED:
                setattr(run, column, NAN)
        return run


def _tail(path, size=600):
    try:
        return path.read_text(errors="replace").strip()[-size:]
    except OSError:
        return ""


class _Measured:
    """What is gathered while a run goes on."""

    def __init__(self):
        self.load = Load()
        self.cost = None
        self.peak_bytes = 0
        self.failure = ""
        self.proxy_died = False
        self.details = {}
        self.configs = {}
        self._first = None
        self._meter = None

    def begin(self, meter, groups, item, options):
        self._meter, self._groups, self._item, self._options = meter, groups, item, options
        if item.scenario.kind == "idle":
            self._empty = self._memory()

    def on_event(self, event, client_pid):
        self._meter.pids.setdefault("cli", client_pid)
        if self._item.scenario.kind == "idle":
            if event == "established":
                self._look_at_idle()
        elif event == "measuring":
            self._first = self._meter.snapshot()
        elif event == "measured" and self._first:
            self.cost = self._meter.cost(self._first, self._meter.snapshot())

    def _memory(self):
        """Bytes three ways: the processes' share of their pages, the kernel's objects (of the whole machine,
        so with the client's and the origin's sockets), and all that the proxy's control group is charged with."""
        return {"pss": sum(proc.pss_bytes(pid) for pid in self._groups.pids("prx")),
                "slab": proc.slab_bytes(), "group": self._groups.memory_bytes("prx")}

    def _look_at_idle(self, deadline_s=10.0):
        """Waits until memory stands still, then notes it and what CPU the held connections cost."""
        end, last = time.monotonic() + deadline_s, 0
        while time.monotonic() < end:
            now = self._groups.memory_bytes("prx")
            if abs(now - last) <= SETTLED_PART * now:
                break
            last = now
            time.sleep(0.5)
        held = self._memory()
        self.peak_bytes = held["group"]
        self.details["memory"] = {"empty": self._empty, "held": held,
                                  "connections": self._item.scenario.connections}
        first = self._meter.snapshot()
        time.sleep(min(IDLE_WINDOW_S, self._options.seconds))
        self.cost = self._meter.cost(first, self._meter.snapshot())


def make_way(placement):
    """The lab's own work must not be counted as the proxy's, and its samples are due when the client says so."""
    ours = (placement.cli | placement.srv) - placement.prx
    if ours:
        os.sched_setaffinity(0, ours)
    try:
        os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(1))
    except OSError:     # not allowed to: a sample may then come some milliseconds late
        pass
