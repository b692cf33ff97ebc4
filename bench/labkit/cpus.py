"""Which CPUs belong to which side: `cli=0,prx=1,srv=0`, lists as in `cli=0-3,prx=4,srv=5-7`."""

import os
import re
from dataclasses import dataclass

from .errors import LabError

ROLES = ("cli", "prx", "srv")


def parse_list(text):
    """'0-3,5' -> {0, 1, 2, 3, 5}"""
    cpus = set()
    for part in text.split(","):
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", part.strip())
        if not match:
            raise LabError(f"not a list of CPUs: {text!r}")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            raise LabError(f"not a range of CPUs: {part!r}")
        cpus.update(range(first, last + 1))
    return cpus


def format_list(cpus):
    """{0, 1, 2, 5} -> '0-2,5', as the kernel writes it."""
    ranges = []
    for cpu in sorted(cpus):
        if ranges and ranges[-1][1] == cpu - 1:
            ranges[-1][1] = cpu
        else:
            ranges.append([cpu, cpu])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in ranges)


def hex_mask(cpus):
    """{0, 33} -> '2,00000001': words of 32 bits, the form of rps_cpus."""
    mask = sum(1 << cpu for cpu in cpus)
    words = []
    while mask or not words:
        words.append(mask & 0xFFFFFFFF)
        mask >>= 32
    head, *rest = reversed(words)
    return ",".join([f"{head:x}"] + [f"{word:08x}" for word in rest])


@dataclass(frozen=True)
class Placement:
    """The CPUs of each side."""

    cli: frozenset
    prx: frozenset
    srv: frozenset

    def of(self, role):
        return getattr(self, role)

    @property
    def ends_share(self):
        """Client and origin run on the same CPUs, so their utilisation is one figure."""
        return bool(self.cli & self.srv)

    @property
    def proxy_shares(self):
        return bool(self.prx & (self.cli | self.srv))

    def __str__(self):
        return ",".join(f"{role}={format_list(self.of(role))}" for role in ROLES)


def parse_placement(text, available=None):
    """'cli=0-1,3,prx=2,srv=0' -> Placement; a list may itself hold commas."""
    available = available if available is not None else os.sched_getaffinity(0)
    lists = {}
    for role, cpus in re.findall(r"(\w+)=([\d,\-]+?)(?:,(?=[a-z])|$)", text):
        if role not in ROLES:
            raise LabError(f"--cpus: {role!r} is none of {', '.join(ROLES)}")
        lists[role] = frozenset(parse_list(cpus))
    if set(lists) != set(ROLES):
        raise LabError(f"--cpus {text!r}: give {', '.join(role + '=LIST' for role in ROLES)}")
    absent = set().union(*lists.values()) - set(available)
    if absent:
        raise LabError(f"--cpus: this machine has no CPU {format_list(absent)} for us")
    return Placement(**lists)


def default_placement(available=None):
    """The proxy gets one CPU of its own wherever there are two: it has to be what runs out first.

    The client needs more than the origin, so with more than three CPUs it gets the larger part.
    """
    cpus = sorted(available if available is not None else os.sched_getaffinity(0))
    if len(cpus) == 1:
        return Placement(*(frozenset(cpus) for _ in ROLES))
    if len(cpus) == 2:
        return Placement(frozenset(cpus[:1]), frozenset(cpus[1:]), frozenset(cpus[:1]))
    ends = len(cpus) - 1
    cli = (ends + 1) // 2
    return Placement(frozenset(cpus[:cli]), frozenset(cpus[cli:cli + 1]), frozenset(cpus[cli + 1:]))
