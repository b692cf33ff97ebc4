"""Which tables a session gives, and what stands in their cells: the plain form. Others are in forms.py.

For each family throughput and latency, then CPU and memory (families relay, http, connect, socks); TLS and mixes
with throughput, CPU, memory (mixes also latency); rates, messages, held connections.
"""

from . import scenario
from .tables import (COPYING, MISSING, NO_PROXY, SPLICING, Cell, Column, Table, mark, star_style, three_digits)

# Headings, by the group a scenario's table belongs to.
SECTIONS = {**{family: scenario.TITLES[family] for family in ("http", "connect", "socks", "relay")},
            "tls": "TLS in the proxy", "mix": "Many connections: the mixes", "rate": "New connections, open loop",
            "message": "Held connections with small messages", "idle": "Held connections"}
SHORT = {"mix": "Mixes", "rate": "New connections", "message": "Messages"}
FAMILY_ORDER = ("http", "connect", "socks", "relay")
ONE = {"rate": "connection", "message": "message"}      # what a request is called there


def guess_group(proxy):
    """Copying or splicing, from the name alone, as the names of the reference and of our recipes say it."""
    kind, *options = proxy.split("-")
    if proxy == "direct":
        return NO_PROXY
    if kind == "headrace":
        return COPYING if "splice=never" in options else SPLICING
    if kind == "3proxy":
        splicing = "devel" in options and not {"s0", "nosplice"} & set(options)
        return SPLICING if splicing or "splice" in options else COPYING
    return SPLICING if "splice" in options else COPYING


def make_columns(runs, wanted=(), splicing=(), copying=()):
    """All proxies of the session, or those of `--column NAME=LABEL` in that order; group by group."""
    labels = dict(wanted) if wanted else {name: name for name in runs.proxies}
    declared = runs.session.provenance.get("peers", {})

    def group(proxy):
        if proxy in splicing:
            return SPLICING
        if proxy in copying:
            return COPYING
        if proxy in declared and proxy != "direct":
            return SPLICING if declared[proxy].get("splices") else COPYING
        return guess_group(proxy)

    columns = [Column(name, label, group(name)) for name, label in labels.items()]
    order = [NO_PROXY, COPYING, SPLICING]
    return sorted(columns, key=lambda c: order.index(c.group))


def in_order(names):
    """Known scenarios as the reference lists them, others behind in order of appearance."""
    place = {name: i for i, name in enumerate(scenario.STANDARD)}
    return sorted(names, key=lambda n: place.get(n, len(place)))


def groups(runs):
    """{table group: [Scenario]} of what was measured; names that are none of ours are left to the CSV."""
    found = {}
    for name in runs.wanted or in_order(runs.scenarios):
        parsed = scenario.parse(name)
        if parsed:
            found.setdefault("tls" if parsed.group.startswith("tls") else parsed.group, []).append(parsed)
    return found


class Layout:
    """Builds the tables of one session."""

    def __init__(self, runs, columns, label=""):
        self.runs, self.columns, self.label = runs, columns, label

    def groups(self):
        return groups(self.runs)

    def present(self, scenarios):
        """Columns with at least one run in them, also if it was left out."""
        known = set(self.runs.counted) | set(self.runs.left_out)
        return [c for c in self.columns if any((c.proxy, s.name) in known for s in scenarios)]

    def row(self, table, columns, label, one, figure, text, higher, style, missing=MISSING, limits=False):
        """One row; text(proxy) makes the cell of a proxy that has the figure."""
        samples = {c.proxy: self.runs.sample(c.proxy, one.name, figure) for c in columns}
        bold, star = mark(columns, samples, higher, style)
        cells = []
        for c in columns:
            cells.append(Cell(
                text(c.proxy) if samples[c.proxy] else missing, c.proxy in bold, c.proxy in star,
                limited=limits and bool(samples[c.proxy]) and c.group != NO_PROXY
                and self.runs.limited(c.proxy, one.name),
                left_out=self.runs.has_left_out(c.proxy, one.name)))
        table.add(label, cells)

    def median(self, proxy, one, figure):
        return self.runs.sample(proxy, one.name, figure).median

    # Tables of one figure.

    def throughput(self, family, scenarios):
        columns = self.present(scenarios)
        corner = f"scenario ({self.label})" if self.label else "scenario"
        table = Table(f"{scenario.TITLES[family]}: throughput", corner, columns, kind="throughput", scenarios=scenarios)
        for one in scenarios:
            figure, scale, unit = ("gbit", 1, "Gbit/s") if one.bulk else ("rate", 1e-3, "k req/s")
            self.row(table, columns, f"{one.load}, {unit}", one, figure,
                     lambda p, o=one, f=figure, s=scale: one_decimal(self.median(p, o, f) * s), True,
                     star_style(columns, "row"), limits=True)
        return table

    def latency(self, title, scenarios, name):
        """Bold by the 99th percentile; streams have none."""
        scenarios = [s for s in scenarios if s.kind != "stream"]
        columns = self.present(scenarios)
        table = Table(f"{title}: latency", "scenario, p50 / p99 ms", columns, kind="latency", scenarios=scenarios)
        for one in scenarios:
            self.row(table, columns, name(one), one, "p99_ms",
                     lambda p, o=one: f"{three_digits(self.median(p, o, 'p50_ms'))} / "
                                      f"{three_digits(self.median(p, o, 'p99_ms'))}",
                     False, star_style(columns, "groups-and-star"))
        return table

    def cpu(self, title, scenarios, name, style=None, digits=None):
        """Seconds per gigabyte for bulk, microseconds per request for the others."""
        columns = self.present(scenarios)
        style = style or star_style(columns, "groups-and-star")
        table = Table(f"{title}: proxy CPU time per gigabyte or per request", "scenario", columns, kind="cpu",
                      scenarios=scenarios)
        for one in scenarios:
            if one.bulk:
                self.row(table, columns, name(one), one, "cpu_s_per_gb",
                         lambda p, o=one: f"{self.median(p, o, 'cpu_s_per_gb'):.2f} s/GB", False, style)
            else:
                unit = f"µs/{ONE.get(one.kind, 'req')}"
                show = digits or (lambda v: f"{v:,.0f}")
                self.row(table, columns, name(one), one, "cpu_us_per_req",
                         lambda p, o=one, u=unit, s=show: f"{s(self.median(p, o, 'cpu_us_per_req'))} {u}", False,
                         style, missing=f"{MISSING} {unit}" if one.kind == "mix" else MISSING)
        return without_no_proxy(table)

    def memory(self, title, scenarios, name, style=None):
        columns = self.present(scenarios)
        table = Table(f"{title}: proxy peak memory, MB", "scenario", columns, kind="memory", scenarios=scenarios)
        for one in scenarios:
            self.row(table, columns, name(one), one, "peak_mb",
                     lambda p, o=one: megabytes(self.median(p, o, "peak_mb")), False,
                     style or star_style(columns, "groups-and-star"))
        return without_no_proxy(table)

    def wide_throughput(self, title, scenarios):
        """Gbit/s, and thousands of requests per second behind it."""
        columns = self.present(scenarios)
        table = Table(f"{title}: throughput, Gbit/s (thousands of requests per second)", "scenario", columns,
                      kind="throughput", scenarios=scenarios)
        for one in scenarios:
            if one.kind == "stream":
                self.row(table, columns, one.name, one, "gbit", lambda p, o=one: f"{self.median(p, o, 'gbit'):.1f}",
                         True, "groups", limits=True)
            else:
                self.row(table, columns, one.name, one, "gbit",
                         lambda p, o=one: f"{self.median(p, o, 'gbit'):.2f} "
                                          f"({self.median(p, o, 'rate') / 1000:.1f}k/s)",
                         True, "groups", missing=f"{MISSING} ({MISSING}k/s)", limits=True)
        return table

    def kept_rate(self, title, scenarios):
        """What came of a rate that was asked for: the same for all that keep up, so nothing is the best."""
        columns = self.present(scenarios)
        table = Table(f"{title}: done per second", "scenario", columns, kind="throughput", scenarios=scenarios)
        for one in scenarios:
            self.row(table, columns, one.name, one, "rate", lambda p, o=one: f"{self.median(p, o, 'rate'):,.0f}", True,
                     "plain", limits=True)
        return table

    def held(self, scenarios):
        """Memory of held connections by their number, and what one more costs."""
        columns = self.present(scenarios)
        table = Table("Held connections: memory of the proxy's control group, MB", "connections held", columns,
                      kind="held", scenarios=scenarios)
        for family in dict.fromkeys(s.family for s in scenarios):
            mine = sorted((s for s in scenarios if s.family == family), key=lambda s: s.connections)
            for one in mine:
                self.row(table, columns, f"{family}, {one.connections:,}", one, "peak_mb",
                         lambda p, o=one: f"{self.median(p, o, 'peak_mb'):,.1f}", False, "groups")
            if len(mine) > 1:
                self._slope_rows(table, columns, family, mine)
        return table

    def _slope_rows(self, table, columns, family, mine):
        """From the fewest to the most connections, as a straight line."""
        low, high = mine[0], mine[-1]
        slopes, fixed = [], []
        for c in columns:
            a, b = self.median(c.proxy, low, "peak_mb"), self.median(c.proxy, high, "peak_mb")
            slope_mb = (b - a) / (high.connections - low.connections)
            known = slope_mb == slope_mb
            slopes.append(Cell(three_digits(slope_mb * 1024) + " KB" if known else MISSING))
            fixed.append(Cell(f"{a - slope_mb * low.connections:,.1f} MB" if known else MISSING))
        table.add(f"{family}: one more connection ({low.connections:,} to {high.connections:,})", slopes)
        table.add(f"{family}: fixed", fixed)
        for what, label in (("pss", "of that in its processes (PSS)"),
                            ("slab", "kernel objects of the whole machine, per connection")):
            cells = [Cell(self._memory_slope(c.proxy, low, high, what)) for c in columns]
            if any(cell.text != MISSING for cell in cells):
                table.add(f"{family}: {label}", cells)

    def _memory_slope(self, proxy, low, high, what):
        sizes = []
        for one in (low, high):
            found = [entry["memory"]["held"][what] - (entry["memory"]["empty"][what] if what == "slab" else 0)
                     for (p, s, _), entry in self.runs.session.details.items()
                     if p == proxy and s == one.name and "memory" in entry]
            if not found:
                return MISSING
            sizes.append(sorted(found)[len(found) // 2])
        slope = (sizes[1] - sizes[0]) / (high.connections - low.connections)
        return f"{slope:,.0f} B" if slope < 10_000 else f"{slope / 1024:,.1f} KB"

    # Sets of tables.

    def plain(self):
        """[(heading, [Table])]"""
        sections, found = [], self.groups()
        for family in FAMILY_ORDER:
            if family in found:
                title, these = scenario.TITLES[family], found[family]
                sections.append((title, [
                    self.throughput(family, these), self.latency(title, these, load_name),
                    self.cpu(title, these, load_name, digits=three_digits), self.memory(title, these, load_name)]))
        if "tls" in found:
            these = found["tls"]
            sections.append((SECTIONS["tls"], [
                self.wide_throughput("TLS", these), self.cpu("TLS", these, full_name, "groups"),
                self.memory("TLS", these, full_name, "groups")]))
        for kind in ("mix", "rate", "message"):
            if kind in found:
                title, these = SHORT[kind], found[kind]
                first = self.wide_throughput if kind == "mix" else self.kept_rate
                sections.append((SECTIONS[kind], [
                    first(title, these), self.cpu(title, these, full_name, "groups"),
                    self.memory(title, these, full_name, "groups"), self.latency(title, these, full_name)]))
        if "idle" in found:
            sections.append((SECTIONS["idle"], [self.held(found["idle"])]))
        return [(heading, [t for t in tables if t.rows and t.columns]) for heading, tables in sections]


def load_name(one):
    return one.load


def full_name(one):
    return one.name


def one_decimal(value):
    return f"{value:.1f}" if value >= 0.95 else f"{value:.2f}"


def megabytes(value):
    return f"{value:,.0f}" if value >= 2.95 else f"{value:.1f}"


def without_no_proxy(table):
    """No proxy has no CPU time and no memory; the column stays, so that the tables of a section line up."""
    for _, cells in table.rows:
        for column, cell in zip(table.columns, cells):
            if column.group == NO_PROXY:
                cell.text, cell.bold, cell.star = MISSING, False, False
    return table
