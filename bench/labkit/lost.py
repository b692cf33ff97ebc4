"""The rows in which a peer is first: what is left to win, told as plainly as the rest.

First is meant by the tables' own rule: the best median of a row, and whoever's runs cannot be told apart from it.
"""

from dataclasses import dataclass

from . import layouts
from .stats import best_of
from .tables import COPYING, LIMITED, NO_PROXY, Cell, Column, Table, three_digits

OURS = "headrace"
# (what, higher is better, column and unit of bulk scenarios, column and unit of the others)
FIGURES = (
    ("CPU", False, ("cpu_s_per_gb", "s/GB"), ("cpu_us_per_req", "µs")),
    ("throughput", True, ("gbit", "Gbit/s"), ("rate", "/s")),
    ("p99", False, None, ("p99_ms", "ms")),
    ("memory", False, ("peak_mb", "MB"), ("peak_mb", "MB")),
)


@dataclass
class Lost:
    table: Table            # one row for each row that a peer wins
    summary: str            # of how many


def find_lost(runs, columns):
    """-> Lost, or None where headrace or its peers are not among the columns."""
    peers = [c for c in columns if c.proxy != OURS and not c.proxy.startswith(OURS + "-") and c.group != NO_PROXY]
    if not peers or OURS not in [c.proxy for c in columns]:
        return None
    table = Table("", "scenario", [Column(str(i), label, COPYING) for i, label in enumerate(
        ("figure", "first", "its median", OURS, "behind by"))])
    counts = {}
    for what, higher, for_bulk, for_requests in FIGURES:
        won = seen = 0
        for one in [one for these in layouts.groups(runs).values() for one in these]:
            chosen = for_bulk if one.bulk else for_requests
            # Whoever keeps up with an open loop has its rate.
            if chosen is None or (what == "throughput" and one.open_loop):
                continue
            figure, unit = chosen
            samples = {c.proxy: runs.sample(c.proxy, one.name, figure) for c in peers}
            ours = runs.sample(OURS, one.name, figure)
            if not ours or not any(samples.values()):
                continue
            seen += 1
            first = best_of({OURS: ours, **samples}, higher)
            if OURS in first:
                won += 1
                continue
            _add(table, runs, one, what, unit, ours, {c: samples[c.proxy] for c in peers if c.proxy in first}, higher)
        if seen:
            counts[what] = f"{won} of {seen} rows of {what}"
    if not counts:
        return None
    return Lost(table, f"{OURS} is first, or its runs cannot be told apart from those of the first, in "
                       + ", ".join(counts.values()) + ("; the others are these." if table.rows else "."))


def _add(table, runs, one, what, unit, ours, first, higher):
    best = (max if higher else min)(first, key=lambda c: first[c].median)
    median = first[best].median
    behind = 1 - ours.median / median if higher else ours.median / median - 1
    limited = f" {LIMITED}" if what == "throughput" and runs.limited(OURS, one.name) else ""
    table.add(one.name, [Cell(what), Cell(best.label), Cell(f"{_number(median)} {unit}"),
                         Cell(f"{_number(ours.median)} {unit}{limited}"), Cell(f"{behind:.0%}")])


def _number(value):
    return three_digits(value) if value >= 0.1 else f"{value:.3f}"
