"""The reference's tables come out of runs that have its medians: cell for cell, mark for mark.

data/reference_tables.md holds tables of the reference as it printed them. For each one, runs are made whose
medians are its figures and whose spread is what its marks say (bold and star mean: the best run reaches the best
one's worst), and the report has to print the very same table. The table of both machines and their average is
without its row http-ka-50k-2000, which has no best among its splicing proxies: a slip, by its own rule.
"""

import re
from pathlib import Path

import pytest
from labkit import forms, layouts, scenario
from labkit.stats import Runs
from labkit.tables import COPYING, NO_PROXY, SPLICING, Column
from made import run, runs_of, session

DATA = (Path(__file__).parent / "data/reference_tables.md").read_text()
TABLES = dict(re.findall(r"^## (.+)\n\n((?:\|.*\n)+)", DATA, re.MULTILINE))
NUDGE = 1e-6        # what keeps two figures apart that are printed alike


class Expected:
    """A printed table, taken apart."""

    def __init__(self, text):
        self.text = text.strip()
        head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in self.text.splitlines()]
        self.bars = [i for i, cell in enumerate(head) if cell == "‖"]
        self.places = [i for i in range(1, len(head)) if i not in self.bars]
        self.labels = [head[i] for i in self.places]
        self.rows = [(row[0], [Printed(row[i]) for i in self.places]) for row in rows]

    def columns(self):
        """Groups from the bars: none, `no proxy` before the first, copying and splicing on both sides."""
        groups = [NO_PROXY, COPYING, SPLICING] if self.labels[0] == "no proxy" else [COPYING, SPLICING]
        groups = [groups[sum(bar < place for bar in self.bars)] for place in self.places]
        return [Column(f"p{i}", label, group) for i, (label, group) in enumerate(zip(self.labels, groups))]


class Printed:
    def __init__(self, text):
        self.bold, self.star, self.limited = text.startswith("**"), text.endswith(" *"), "‡" in text
        self.numbers = [float(n.replace(",", "")) for n in re.findall(r"\d[\d,]*\.?\d*", text)]
        self.missing = text.startswith("–")


def spread(columns, cells, value, higher):
    """{proxy: three values} with the medians and marks of the row."""
    sign = 1 if higher else -1
    known = [(c, cell) for c, cell in zip(columns, cells) if not cell.missing]

    def best(chosen):
        return max((value(cell) * sign for _, cell in chosen), default=None)

    row_best = best([(c, cell) for c, cell in known if cell.star])
    out = {}
    for c, cell in known:
        here = value(cell) * sign
        group_best = best([(o, other) for o, other in known if o.group == c.group and other.bold])
        if cell.star and cell.bold:
            reach = row_best
        elif cell.bold:
            reach = group_best
        elif cell.star:     # reaches the row's best, whose runs spread, but not the best of its own group
            reach = group_best - abs(group_best) * 0.005
        else:
            here -= abs(here) * NUDGE
            reach = here
        out[c.proxy] = [here * sign, here * sign, reach * sign]
    for c, cell in known:
        lonely = [other for o, other in known if other.star and not other.bold]
        if lonely and cell.star and value(cell) * sign == row_best:
            out[c.proxy][2] = value(cell) * (1 - sign * 0.02)
    return out


def made_runs(expected, name_of, figures, value, higher=True, column=None):
    """figures(cell) gives the further values of a run; column is the one that the marks are about."""
    runs, columns = [], expected.columns()
    for label, cells in expected.rows:
        name = name_of(label)
        which = column if isinstance(column, str) else column(scenario.parse(name))
        values = spread(columns, cells, lambda cell: value(scenario.parse(name), cell), higher)
        for c, cell in zip(columns, cells):
            for rep, figure in enumerate(values.get(c.proxy, [])):
                fields = {**figures(scenario.parse(name), cell), which: figure}
                runs.append(run(c.proxy, name, rep, bound="client" if cell.limited else "proxy", **fields))
    return runs_of(runs)


def check(table, expected):
    assert table.markdown() == expected.text


def of_kind(kind):
    return [name for name in TABLES if name.startswith(kind)]


@pytest.mark.parametrize("name", of_kind("throughput"))
def test_throughput(name):
    _, family, machine = name.split()
    expected = Expected(TABLES[name])
    runs = made_runs(expected, lambda label: f"{family}-{label.split(',')[0]}", lambda one, cell: {},
                     lambda one, cell: cell.numbers[0] * (1 if one.bulk else 1000),
                     column=lambda one: "gbit" if one.bulk else "rate")
    layout = layouts.Layout(runs, expected.columns(), machine)
    check(layout.throughput(family, layout.groups()[family]), expected)


@pytest.mark.parametrize("name", of_kind("latency"))
def test_latency(name):
    family = name.split()[1]
    expected = Expected(TABLES[name])
    mixes = family == "mix"
    runs = made_runs(expected, lambda label: label if mixes else f"{family}-{label}",
                     lambda one, cell: {"p50_ms": cell.numbers[0]}, lambda one, cell: cell.numbers[1], higher=False,
                     column="p99_ms")
    layout = layouts.Layout(runs, expected.columns())
    names = layouts.full_name if mixes else layouts.load_name
    check(layout.latency("", layout.groups()[family], names), expected)


@pytest.mark.parametrize("name", of_kind("wide"))
def test_throughput_with_requests(name):
    expected = Expected(TABLES[name])
    runs = made_runs(expected, str, lambda one, cell: {"rate": cell.numbers[-1] * 1000},
                     lambda one, cell: cell.numbers[0], column="gbit")
    layout = layouts.Layout(runs, expected.columns())
    check(layout.wide_throughput("", layout.groups()[name.split()[1]]), expected)


@pytest.mark.parametrize("name", of_kind("cpu"))
def test_cpu_per_unit(name):
    expected = Expected(TABLES[name])
    runs = made_runs(expected, str, lambda one, cell: {}, lambda one, cell: cell.numbers[0], higher=False,
                     column=lambda one: "cpu_s_per_gb" if one.bulk else "cpu_us_per_req")
    add_no_proxy(runs, expected)
    layout = layouts.Layout(runs, expected.columns())
    check(layout.cpu("", layout.groups()[name.split()[1]], layouts.full_name, "groups"), expected)


@pytest.mark.parametrize("name", of_kind("memory"))
def test_peak_memory(name):
    expected = Expected(TABLES[name])
    runs = made_runs(expected, str, lambda one, cell: {}, lambda one, cell: cell.numbers[0], higher=False,
                     column="peak_mb")
    add_no_proxy(runs, expected)
    layout = layouts.Layout(runs, expected.columns())
    check(layout.memory("", layout.groups()[name.split()[1]], layouts.full_name, "groups"), expected)


def add_no_proxy(runs, expected):
    """Runs without a proxy have a row in the CSV, too; their CPU and memory are nobody's."""
    for c in expected.columns():
        if c.group == NO_PROXY:
            for label, _ in expected.rows:
                one = run(c.proxy, label, cpu_s_per_gb=0.0, cpu_us_per_req=0.0, peak_mb=0.0)
                runs.counted[c.proxy, label].append(one)


@pytest.mark.parametrize("name", of_kind("pairs"))
def test_throughput_and_cpu_in_a_cell(name):
    expected = Expected(TABLES[name])
    runs = made_runs(expected, str,
                     lambda one, cell: {"cpu_s_per_gb" if one.bulk else "cpu_us_per_req": cell.numbers[1]},
                     lambda one, cell: cell.numbers[0] * (1 if one.bulk else 1000),
                     column=lambda one: "gbit" if one.bulk else "rate")
    layout = layouts.Layout(runs, expected.columns(), name.split()[2])
    check(forms.pairs(layout)[0][1][0], expected)


def three_runs(rate, us, percent):
    """[(rate, µs)] with those medians, and the median of the products that was printed: it is none of medians."""
    if percent is None:
        return [(rate, us)] * 3
    product = percent * 1e4
    among = product / us
    if product / rate > us:
        return [(rate, product / rate), (max(among, rate) * 1.02, us), (rate * 0.9, us * 0.9)]
    return [(rate, product / rate), (min(among, rate) * 0.98, us), (rate * 1.1, us * 1.1)]


def link_runs(expected, family_of_streams="relay-"):
    """Whatever rows the table has: throughput, CPU, percentiles."""
    figures = {}
    for label, cells in expected.rows:
        name, figure = label.split(", ")
        name = name if scenario.parse(name) else family_of_streams + name
        for c, cell in zip(expected.columns(), cells):
            figures.setdefault((c.proxy, name), {})[figure] = cell.numbers
    out = []
    for (proxy, name), found in figures.items():
        if "Mbit/s" in found:
            cpu = found.get("process / busy CPU s/GB") or [1.0, *found.get("proxy CPU s/GB", [1.0])]
            out.append(run(proxy, name, gbit=found["Mbit/s"][0] / 1000, cpu_s_per_gb=cpu[1], prx_cpu_s=5.0,
                           prx_task_s=5.0 * cpu[0] / cpu[1]))
            continue
        task, busy = found.get("process / busy CPU µs") or [1.0, found["µs/exchange"][0]]
        p50, p90, p99 = found["p50 / p90 / p99 ms"]
        percent = found.get("CPU busy %", [None])[0]
        for rep, (rate, us) in enumerate(three_runs(found["k/s"][0] * 1000, busy, percent)):
            out.append(run(proxy, name, rep, rate=rate, cpu_us_per_req=us, prx_cpu_s=7.0, prx_task_s=7.0 * task / us,
                           p50_ms=p50, p90_ms=p90, p99_ms=p99))
    return runs_of(out)


@pytest.mark.parametrize("name", of_kind("link"))
def test_process_and_busy_cpu_over_a_link(name):
    expected = Expected(TABLES[name])
    layout = layouts.Layout(link_runs(expected), expected.columns())
    check(forms.link(layout)[0][1][0], expected)


@pytest.mark.parametrize("name", of_kind("busy"))
def test_busy_cpu_alone_over_a_link(name):
    expected = Expected(TABLES[name])
    layout = layouts.Layout(link_runs(expected), expected.columns())
    check(forms.busy(layout)[0][1][0], expected)


def test_every_run_in_a_cell():
    expected = Expected(TABLES["runs"])
    cells = dict(expected.rows)
    runs = []
    for i, c in enumerate(expected.columns()):
        rate = cells["exchanges a second"][i].numbers[0] * 1000
        p50, *p90, p99 = cells["p50 / p90 / p99 ms"][i].numbers
        for rep in range(3):
            us = cells["CPU busy, % of 200"][i].numbers[2 - rep] * 1e4 / rate
            task = cells["process CPU µs per exchange"][i].numbers[rep]
            runs.append(run(c.proxy, "mix-connect-3k", rep, rate=rate, cpu_us_per_req=us, prx_cpu_s=8.0,
                            prx_task_s=8.0 * task / us, prx_util=us * rate / 2e6, p50_ms=p50, p90_ms=p90[rep % len(p90)],
                            p99_ms=p99))
    layout = layouts.Layout(runs_of(runs), expected.columns())
    check(forms.runs(layout)[0][1][0], expected)


def test_machines_and_their_average_in_a_cell():
    expected = Expected(TABLES["machines"])
    columns = expected.columns()
    machines, wanted = ([], []), []
    for label, cells in expected.rows:
        name = label.split(",")[0]
        wanted.append(name if scenario.parse(name) else f"relay-{name}")
        one = scenario.parse(wanted[-1])
        spreads = spread(columns, cells, lambda cell: cell.numbers[2], True)
        for c, cell in zip(columns, cells):
            # The average was taken before rounding.
            shift = (cell.numbers[2] - (cell.numbers[0] + cell.numbers[1]) / 2) * 0.96
            for rep, value in enumerate(spreads[c.proxy]):
                for machine, printed in zip(machines, cell.numbers):
                    figure = printed + shift + value - cell.numbers[2] + (0.01 if rep == 2 and cell.bold else 0)
                    machine.append(run(c.proxy, one.name, rep,
                                       **{"gbit": figure} if one.bulk else {"rate": figure * 1e3}))
    sessions = [session(runs, label=label) for runs, label in zip(machines, ("M4", "Intel"))]
    layout = layouts.Layout(Runs(forms.averaged(sessions), wanted), columns)
    check(forms.machines(sessions, layout)[0][1][0], expected)
