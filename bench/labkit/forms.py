"""The reference's other forms of tables, for questions that a plain table does not answer at a glance.

link      all in one table, as for the grace delay over emulated links: process and busy CPU in one cell
busy      the same with busy CPU alone
runs      every run of a few scenarios instead of its median, as for CONNECT at 10 Mbit/s
pairs     throughput and CPU in one cell, as for kernel TLS
machines  throughput of two machines or more and their average in one cell; only where they are alike

None but `machines` marks a best: what they compare is settings, and whoever reads them weighs one figure
against another.
"""

from .layouts import one_decimal
from .results import Session
from .scenario import FAMILIES
from .stats import Runs
from .tables import COPYING, MISSING, NO_PROXY, Column, Table

CELL_SEPARATOR = " / "


def _scenarios(layout):
    """As they were asked for, else family by family."""
    found = [one for these in layout.groups().values() for one in these if one.kind != "idle"]
    if layout.runs.wanted:
        return sorted(found, key=lambda one: layout.runs.wanted.index(one.name))
    return sorted(found, key=lambda one: FAMILIES.index(one.family))


def _columns(layout, scenarios):
    """Without groups: nothing is marked."""
    return [Column(c.proxy, c.label, COPYING) for c in layout.present(scenarios)]


def _one_table(layout, title, corner, rows_of):
    """rows_of(scenario): (label, figure that must be there, text from a function giving medians)"""
    scenarios = _scenarios(layout)
    columns = _columns(layout, scenarios)
    no_proxy = {c.proxy for c in layout.columns if c.group == NO_PROXY}
    table = Table(title, corner, columns)
    for one in scenarios:
        for label, figure, text in rows_of(one):
            layout.row(table, columns, label, one, figure,
                       lambda p, o=one, t=text, cpu="CPU" in label:
                       MISSING if cpu and p in no_proxy else t(lambda f: layout.median(p, o, f)), True, "plain")
    return [(title, [table])]


def link(layout):
    """Process CPU beside busy CPU."""
    def rows(one):
        name = one.load if one.kind == "stream" and one.family == "relay" else one.name
        if one.bulk:
            return [(f"{name}, Mbit/s", "gbit", mbit),
                    (f"{name}, process / busy CPU s/GB", task_per_gigabyte,
                     lambda m: f"{m(task_per_gigabyte):.1f} / {m('cpu_s_per_gb'):.1f}")]
        return [(f"{name}, k/s", "rate", thousands),
                (f"{name}, process / busy CPU µs", task_us,
                 lambda m: f"{m(task_us):.0f} / {m('cpu_us_per_req'):.0f}"),
                (f"{name}, CPU busy %", busy_percent, lambda m: f"{m(busy_percent):.0f}"),
                (f"{name}, p50 / p90 / p99 ms", "p99_ms", percentiles)]
    return _one_table(layout, "Over the emulated link", "", rows)


def busy(layout):
    """One stream at the link's own rate has no CPU row: it says how often an idle CPU was woken."""
    def rows(one):
        if one.bulk:
            cpu = [(f"{one.name}, proxy CPU s/GB", "cpu_s_per_gb", lambda m: f"{m('cpu_s_per_gb'):.1f}")]
            return [(f"{one.name}, Mbit/s", "gbit", mbit)] + (cpu if one.connections > 1 else [])
        return [(f"{one.name}, k/s", "rate", thousands),
                (f"{one.name}, µs/exchange", "cpu_us_per_req", lambda m: f"{m('cpu_us_per_req'):.0f}"),
                (f"{one.name}, p50 / p90 / p99 ms", "p99_ms", percentiles)]
    return _one_table(layout, "Over the emulated link", "", rows)


def pairs(layout):
    """Throughput and CPU side by side in each cell."""
    def rows(one):
        if one.bulk:
            return [(one.name, "gbit", lambda m: f"{m('gbit'):.2f} Gbit/s, {m('cpu_s_per_gb'):.2f} s/GB")]
        return [(one.name, "rate", lambda m: f"{m('rate') / 1000:.1f}k/s, {m('cpu_us_per_req'):.0f} µs")]
    return _one_table(layout, "Throughput and CPU", f"scenario ({layout.label})" if layout.label else "scenario", rows)


def runs(layout):
    """A table per scenario of requests; in each cell every run, in order of size."""
    tables = []
    for one in _scenarios(layout):
        if one.bulk:
            continue
        columns = _columns(layout, [one])
        of_all = _proxy_percent(layout, one)
        table = Table(one.name, "", columns)
        for label, figure, text in (
                ("exchanges a second", "rate", lambda s: f"{s('rate').median / 1000:.2f}k"),
                (f"CPU busy, % of {of_all}", busy_percent, lambda s: _listed(s(busy_percent))),
                ("process CPU µs per exchange", task_us, lambda s: _listed(s(task_us))),
                ("p50 / p90 / p99 ms", "p99_ms",
                 lambda s: CELL_SEPARATOR.join(_range(s(f)) for f in ("p50_ms", "p90_ms", "p99_ms")))):
            layout.row(table, columns, label, one, figure,
                       lambda p, o=one, t=text: t(lambda f: layout.runs.sample(p, o.name, f)), True, "plain")
        tables.append(table)
    return [("Every run", tables)]


FORMS = {"link": link, "busy": busy, "runs": runs, "pairs": pairs}


def machines(sessions, layout):
    """One table of throughput, each cell holding the machines in turn and their average, which decides the marks.

    layout: of averaged(sessions)"""
    each = [Runs(session) for session in sessions] + [layout.runs]
    scenarios = _scenarios(layout)
    columns = layout.present(scenarios)
    labels = CELL_SEPARATOR.join([*(s.label for s in sessions), "average"])
    table = Table("Throughput", f"scenario ({labels})", columns)
    for one in scenarios:
        figure, scale, unit = ("gbit", 1, "Gbit/s") if one.bulk else ("rate", 1e-3, "k req/s")
        name = one.load if one.family == "relay" else one.name
        layout.row(table, columns, f"{name}, {unit}", one, figure,
                   lambda p, o=one, f=figure, s=scale: CELL_SEPARATOR.join(
                       one_decimal(r.sample(p, o.name, f).median * s) for r in each), True, "groups-and-star")
    return [("Throughput of all machines", [table])]


def averaged(sessions):
    """-> Session. Repetition by repetition, of those that count on every machine: the first run of one machine is
    averaged with the first of the other."""
    by_machine = [{(run.proxy, run.scenario, run.rep): run for run in s.runs if not s.mark(run)} for s in sessions]
    out = []
    for key, first in by_machine[0].items():
        same = [runs.get(key) for runs in by_machine]
        if None not in same:
            values = {f: sum(getattr(run, f) for run in same) / len(same) for f in ("gbit", "rate")}
            out.append(type(first)(*key, **values))
    return Session("all machines", out, {}, {"peers": sessions[0].provenance.get("peers", {})})


def task_per_gigabyte(run):
    """Process CPU per gigabyte: the busy figure, scaled by the two times of the same run."""
    return run.cpu_s_per_gb * run.prx_task_s / run.prx_cpu_s if run.prx_cpu_s > 0 else float("nan")


def task_us(run):
    return run.cpu_us_per_req * run.prx_task_s / run.prx_cpu_s if run.prx_cpu_s > 0 else float("nan")


def busy_percent(run):
    """Of one CPU."""
    return run.cpu_us_per_req * run.rate / 1e4


def _proxy_percent(layout, one):
    """100 for each of the proxy's CPUs, from the two ways in which a row tells how busy they were."""
    for c in layout.columns:
        for run in layout.runs.counted.get((c.proxy, one.name), []):
            if run.prx_util > 0:
                return max(round(busy_percent(run) / run.prx_util / 100), 1) * 100
    return 100


def _listed(sample):
    return ", ".join(f"{value:.0f}" for value in sorted(sample.values))


def _range(sample):
    ends = list(dict.fromkeys(f"{f(sample.values):,.0f}" for f in (min, max)))
    return "-".join(ends)


def mbit(m):
    value = m("gbit") * 1000
    return f"{value:.1f}" if value < 20 else f"{value:.0f}"


def thousands(m):
    return f"{m('rate') / 1000:.2f}"


def percentiles(m):
    return CELL_SEPARATOR.join(_milliseconds(m(f)) for f in ("p50_ms", "p90_ms", "p99_ms"))


def _milliseconds(value):
    return f"{value:.1f}" if round(value, 1) < 100 else f"{value:,.0f}"
