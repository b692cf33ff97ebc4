"""Who makes the load, and who answers it: headrace-load, client and origin of every scenario.

Where `--client wrk` asks for it, wrk.py takes the client's place; what they tell has the same form.
"""

import json
import math
import os
import selectors
import subprocess
import time
from dataclasses import dataclass, field

from . import network, sides
from .errors import LabError
from .recipe import Address
from .scenario import ACTIVE_PART, MIX_CONNECTIONS

NAN = math.nan

# What the origin listens on. With TLS the same roles stand a thousand higher.
PORTS = {"http": 80, "sink": 5001, "source": 5002, "echo": 5007, "iperf3": 5201}
TLS_PORT_STEP = 1000

MODES = {"http": "http", "connect": "connect", "socks": "socks5"}     # all others: plain
SETTLE_S = 30               # beyond the measured time, until a client that says nothing is given up
MESSAGE_BYTES = 64


@dataclass
class Load:
    """What the client saw."""

    seconds: float = 0.0
    gbit: float = NAN
    rate: float = NAN
    p50_ms: float = NAN
    p90_ms: float = NAN
    p99_ms: float = NAN
    errors: int = 0
    timeouts: int = 0
    resets: int = 0                     # of the errors: connection broken before the first byte of an answer
    wrong: int = 0                      # answers of another length, status or content
    lag_p99_ms: float = 0.0             # open loop: how late the client itself was
    failure: str = ""                   # it could not measure at all
    raw: dict = field(default_factory=dict)
    argv: list = field(default_factory=list)


@dataclass
class Target:
    """Where the client of a run goes."""

    connect: Address            # the proxy; without one the origin
    origin: Address
    mode: str
    tls: bool


def origin_role(scenario, client):
    if scenario.kind == "stream":
        if client == "wrk":
            return "iperf3"
        return "source" if scenario.down else "sink"
    return "echo" if scenario.kind == "message" else "http"


def origin_has_tls(scenario, peer):
    """Where the proxy begins TLS, and where there is no proxy that could end it."""
    return scenario.family == "tls-init" or (peer.transparent and scenario.family == "tls-term")


def origin_address(scenario, peer, client):
    step = TLS_PORT_STEP if origin_has_tls(scenario, peer) else 0
    return Address(network.ORIGIN, PORTS[origin_role(scenario, client)] + step)


def connections(scenario, limit):
    """How many the client holds; mixes and the idle take what there is room for."""
    if scenario.kind == "mix":
        return min(MIX_CONNECTIONS, limit)
    if scenario.kind == "rate":
        return limit
    return scenario.connections


def start_origin(run_sides, scenario, peer, client, load_path, certificate, key):
    """-> Popen of the origin, listening."""
    role = origin_role(scenario, client)
    port = origin_address(scenario, peer, client).port
    if role == "iperf3":
        argv = ["iperf3", "-s", "-p", str(port)]
    else:
        tls = "+tls" if origin_has_tls(scenario, peer) else ""
        argv = [load_path, "origin", "--listen", f"{role}{tls}:{network.ORIGIN}:{port}"]
        if tls:
            argv += ["--cert", certificate, "--key", key]
    process = run_sides.start("srv", argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    if not sides.wait_until_listening(process, port):
        raise LabError(f"the origin does not start: {' '.join(map(str, argv))}")
    return process


class LoadClient:
    """headrace-load. It says when its warm-up is over and when its time is, so that we sample just that."""

    def __init__(self, path, seconds, warmup):
        self.path, self.seconds, self.warmup = path, seconds, warmup

    def argv(self, scenario, target, limit, seed):
        held = connections(scenario, limit)
        argv = [self.path, "client", scenario.kind, "--connect", target.connect, "--mode", target.mode,
                "--connections", held, "--seconds", self.seconds, "--warmup", self.warmup, "--seed", seed]
        if target.mode != "plain":
            argv += ["--target", target.origin]
        if target.tls:
            argv += ["--tls"]
        if scenario.resumed:
            argv += ["--tls-resume"]
        if scenario.kind == "stream":
            argv += ["--direction", "down" if scenario.down else "up"]
        elif scenario.kind == "request":
            argv += ["--answer", scenario.answer_bytes, "--body", scenario.body_bytes,
                     "--requests-per-connection", scenario.requests_per_connection]
        elif scenario.kind == "mix":
            argv += ["--active", max(held // ACTIVE_PART, 1)]
        elif scenario.kind == "message":
            argv += ["--size", MESSAGE_BYTES]
        if scenario.rate:
            argv += ["--rate", scenario.rate]
        return [str(word) for word in argv]

    def run(self, run_sides, scenario, target, limit, seed, on_event):
        """on_event('start' | 'established' | 'measuring' | 'measured'); for idle, 'established' returns when it
        has seen enough. -> Load"""
        argv = self.argv(scenario, target, limit, seed)
        process = run_sides.start("cli", argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        on_event("start", process.pid)
        out, said = self._follow(process, scenario, on_event)
        load = self._parse(out)
        load.argv = argv
        if process.returncode != 0 or not load.raw:
            load.failure = "; ".join(said[-3:]) or load.raw.get("first_error", "") or "the client gave no result"
        return load

    def _follow(self, process, scenario, on_event):
        """Reads both outputs to their end and passes the events on. -> stdout, what stderr said besides events"""
        end = time.monotonic() + self.seconds + self.warmup + SETTLE_S + 30
        out, buffer, said = b"", b"", []
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            selector.register(process.stderr, selectors.EVENT_READ)
            while selector.get_map():
                ready = selector.select(timeout=max(end - time.monotonic(), 0))
                if not ready:
                    process.kill()
                    process.wait()
                    return b"", said + ["the client was still busy long after its time"]
                for key, _ in ready:
                    data = os.read(key.fd, 65536)
                    if not data:
                        selector.unregister(key.fileobj)
                    elif key.fileobj is process.stdout:
                        out += data
                    else:
                        *lines, buffer = (buffer + data).split(b"\n")
                        for line in lines:
                            words = line.decode(errors="replace").split()
                            if words[:1] != ["event"]:
                                said.append(" ".join(words))
                                continue
                            on_event(words[1], process.pid)
                            if words[1] == "established" and scenario.kind == "idle":
                                end += self.seconds + SETTLE_S
                                process.stdin.close()
        process.wait()
        return out, said

    @staticmethod
    def _parse(out):
        try:
            raw = json.loads(out)
        except ValueError:
            return Load()

        def number(key):
            value = raw.get(key)
            return NAN if value is None else float(value)

        lag = raw.get("schedule_lag_p99_ms")
        return Load(seconds=number("seconds"), gbit=number("gbit"), rate=number("rate"), p50_ms=number("p50_ms"),
                    p90_ms=number("p90_ms"), p99_ms=number("p99_ms"), errors=int(raw.get("errors") or 0),
                    timeouts=int(raw.get("timeouts") or 0), wrong=int(raw.get("errors_by", {}).get("wrong", 0)),
                    resets=int(raw.get("errors_by", {}).get("reset", 0)),
                    lag_p99_ms=float(lag or 0), raw=raw)
