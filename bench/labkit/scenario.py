"""Scenarios: what is asked of a proxy. A name says everything, so any name of the grammar can be run.

    FAMILY-stream16[-down]          that many endless streams, up or down
    FAMILY-ka-1k, -ka-50k-2000      kept-alive connections: [body-]answer[-connections]
    FAMILY-close-1k[-resumed]       a new connection for each request; with TLS from the client, by sessions
    mix-FAMILY[-3k]                 web-like exchanges over held connections; closed loop, or 3000 per second
    idle-FAMILY-5000                connections held and doing nothing, for their memory
    rate-FAMILY-2k                  2000 new connections per second, Poisson arrivals
    message-FAMILY-5000             held connections, one small message each per second

FAMILY: relay, http, connect, socks, tls-term (TLS from the client), tls-init (TLS to the origin).
"""

import fnmatch
import re
from dataclasses import dataclass

from .errors import LabError

FAMILIES = ("relay", "http", "connect", "socks", "tls-term", "tls-init")
TITLES = {"http": "HTTP proxy", "connect": "CONNECT tunnel", "socks": "SOCKSv5 tunnel", "relay": "TCP relay",
          "tls-term": "TLS from the client (ended in the proxy)",
          "tls-init": "TLS to the origin (begun in the proxy)"}

BULK_ANSWER_BYTES = 1 << 20     # from here on Gbit/s and CPU per gigabyte say more than requests
MIX_CONNECTIONS = 20_000        # what the mix holds where the descriptor limit allows it
ACTIVE_PART = 10                # one in so many of them has an exchange under way

CROWD = 1000                    # so many that begin at once need CROWD_WARMUP_S to be connected
CROWD_WARMUP_S = 2.0

_FAMILY = "(?P<family>" + "|".join(sorted(FAMILIES, key=len, reverse=True)) + ")"
_SIZE = r"\d+[km]"
_GRAMMAR = [
    ("stream", re.compile(rf"{_FAMILY}-stream(?P<connections>\d+)(?P<down>-down)?")),
    ("request", re.compile(rf"{_FAMILY}-(?P<reuse>ka|close)-(?:(?P<body>{_SIZE})-)?(?P<answer>{_SIZE})"
                           r"(?:-(?P<connections>\d+))?(?P<resumed>-resumed)?")),
    ("mix", re.compile(rf"mix-{_FAMILY}(?:-(?P<rate>\d+k?))?")),
    ("idle", re.compile(rf"idle-{_FAMILY}-(?P<connections>\d+)")),
    ("rate", re.compile(rf"rate-{_FAMILY}-(?P<rate>\d+k?)")),
    ("message", re.compile(rf"message-{_FAMILY}-(?P<connections>\d+)")),
]


def _number(text):
    """'50k' of bytes is 50 * 1024; a count never comes here with a suffix."""
    scale = {"k": 1024, "m": 1024 * 1024}.get(text[-1], 1)
    return int(text.rstrip("km")) * scale


@dataclass(frozen=True)
class Scenario:
    """One load on one family of proxies. Zero means: not part of this kind of load."""

    name: str
    family: str
    kind: str                   # stream | request | mix | idle | rate | message
    connections: int = 0        # mix: 0 until the limit of this machine is known
    answer_bytes: int = 0
    body_bytes: int = 0
    requests_per_connection: int = 0
    resumed: bool = False       # TLS handshakes go on with the session of an earlier one
    down: bool = False
    rate: int = 0               # per second; 0: closed loop

    @property
    def bulk(self):
        """Told in Gbit/s and seconds per gigabyte rather than in requests."""
        return self.kind == "stream" or (self.kind == "request" and self.answer_bytes >= BULK_ANSWER_BYTES)

    @property
    def open_loop(self):
        return self.rate > 0 or self.kind == "message"

    @property
    def least_warmup_s(self):
        """Below it the latencies have the connecting in them: some clients wait a second for their second try. So does
        the first round of messages, one a second, which over TLS brings the session tickets."""
        return CROWD_WARMUP_S if self.kind in ("request", "message") and self.connections >= CROWD else 0.0

    @property
    def load(self):
        """The name without its family, as the family's own table calls the row."""
        prefix = self.family + "-"
        return self.name[len(prefix):] if self.name.startswith(prefix) else self.name

    @property
    def group(self):
        """The table it belongs to."""
        return self.family if self.kind in ("stream", "request") else self.kind


def parse(name):
    """The scenario of that name, or None where the name is no scenario of ours."""
    for kind, pattern in _GRAMMAR:
        match = pattern.fullmatch(name)
        if match and not (match.groupdict().get("resumed") and not match[0].startswith("tls-term-close-")):
            return _build(name, kind, match.groupdict())
    return None


def _build(name, kind, found):
    rate = found.get("rate")
    values = {"name": name, "family": found["family"], "kind": kind, "down": bool(found.get("down"))}
    if found.get("connections"):
        values["connections"] = int(found["connections"])
    if rate:
        values["rate"] = int(rate.rstrip("k")) * (1000 if rate.endswith("k") else 1)
    if kind == "request":
        values["answer_bytes"] = _number(found["answer"])
        values["body_bytes"] = _number(found["body"]) if found["body"] else 0
        values["resumed"] = bool(found["resumed"])
        values["requests_per_connection"] = 1 if found["reuse"] == "close" else 0
        values.setdefault("connections", 16 if values["answer_bytes"] >= BULK_ANSWER_BYTES else 64)
    return Scenario(**values)


def _standard():
    streams = ["stream1", "stream1-down", "stream16"]
    requests = ["ka-1k", "ka-1m", "ka-50k-2000", "ka-2k-50k-2000", "close-1k"]
    tunnels = ("relay", "connect", "socks")
    names = [f"{family}-{load}" for family in ("relay", "http", "connect", "socks")
             for load in (requests if family == "http" else streams + requests)]
    names += [f"{family}-{load}" for family in ("tls-term", "tls-init")
              for load in ["ka-1k", "ka-1m", "close-1k", "stream1-down", "stream16"]]
    names += ["tls-term-close-1k-resumed"]
    names += [f"mix-{family}{rate}" for rate in ("", "-3k") for family in ("http", "connect", "socks", "relay")]
    names += [f"idle-{family}-{held}" for family in ("relay", "http", "connect", "socks", "tls-term")
              for held in (1000, 4000, 8000)]
    # A full handshake takes the client half a millisecond, so that more arrivals a second wait for the client itself.
    names += [f"rate-{family}-2k" for family in ("relay", "http", "connect", "socks")] + ["rate-tls-term-100"]
    names += [f"message-{family}-5000" for family in tunnels + ("tls-term",)]
    return names


STANDARD = tuple(_standard())

# Named selections. "plain" is the full table of the reference's first four sections.
SETS = {
    "plain": [n for n in STANDARD if parse(n).group in ("relay", "http", "connect", "socks")],
    "tls": [n for n in STANDARD if parse(n).group.startswith("tls")],
    "mix": [n for n in STANDARD if parse(n).kind == "mix"],
    "idle": [n for n in STANDARD if parse(n).kind == "idle"],
    "rate": [n for n in STANDARD if parse(n).kind == "rate"],
    "message": [n for n in STANDARD if parse(n).kind == "message"],
    "relay": [n for n in STANDARD if parse(n).group == "relay"],
    "http": [n for n in STANDARD if parse(n).group == "http"],
    "connect": [n for n in STANDARD if parse(n).group == "connect"],
    "socks": [n for n in STANDARD if parse(n).group == "socks"],
    "all": list(STANDARD),
    "quick": ["relay-stream1-down", "relay-ka-1k", "relay-ka-50k-2000", "relay-close-1k", "http-ka-1k",
              "http-close-1k", "connect-ka-1k", "socks-ka-1k", "tls-term-ka-1k"],
}


def select(words):
    """Sets, shell patterns over the standard names, and single names, in the order given, each once."""
    chosen = {}
    for word in words:
        if word in SETS:
            names = SETS[word]
        elif any(sign in word for sign in "*?["):
            names = fnmatch.filter(STANDARD, word)
            if not names:
                raise LabError(f"no standard scenario matches {word!r}; `lab list` shows them")
        else:
            names = [word]
        for name in names:
            scenario = parse(name)
            if scenario is None:
                raise LabError(f"{name!r} is no scenario; `lab list` shows them")
            chosen.setdefault(name, scenario)
    return list(chosen.values())
