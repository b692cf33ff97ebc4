"""Tables as values: columns in groups, cells with their marks. How they look in Markdown stands here, too.

Groups are the proxies that copy through user space and those that splice in the kernel, with the runs without
a proxy before them; a column of double bars parts them. Bold is the best of its group and whatever cannot be
told apart from it; a star marks the best of the row over the groups.
"""

from dataclasses import dataclass, field

from .stats import best_of

BAR = "‖"
LIMITED = "‡"
LEFT_OUT = "†"
MISSING = "–"
NO_PROXY, COPYING, SPLICING = "no proxy", "copying", "splicing"


@dataclass(frozen=True)
class Column:
    proxy: str
    label: str
    group: str


@dataclass
class Cell:
    text: str
    bold: bool = False
    star: bool = False
    limited: bool = False
    left_out: bool = False

    def markdown(self):
        text = self.text + (f" {LIMITED}" if self.limited else "")
        text = f"**{text}**" if self.bold else text
        return text + (" *" if self.star else "") + (f" {LEFT_OUT}" if self.left_out else "")


@dataclass
class Table:
    title: str              # "TCP relay: throughput"; empty where a heading says it
    corner: str             # what the first column is
    columns: list
    rows: list = field(default_factory=list)    # (label, [Cell of each column])
    kind: str = ""          # throughput, cpu, latency, memory, held: what its pictures show
    scenarios: list = field(default_factory=list)

    @property
    def slots(self):
        """Columns with a None wherever a bar stands between two groups."""
        out = []
        for column in self.columns:
            if out and out[-1].group != column.group:
                out.append(None)
            out.append(column)
        return out

    def add(self, label, cells):
        self.rows.append((label, cells))

    def markdown(self):
        slots = self.slots
        head = [self.corner] + [BAR if s is None else s.label for s in slots]
        rule = ["---"] + [":-:" if s is None else "---:" for s in slots]
        lines = [("| " + " | ".join(head) + " |").replace("|  |", "| |", 1), "|" + "|".join(rule) + "|"]
        for label, cells in self.rows:
            rest = iter(cells)
            words = [label] + [BAR if s is None else next(rest).markdown() for s in slots]
            lines.append("| " + " | ".join(words) + " |")
        return "\n".join(lines)


def mark(columns, samples, higher_is_better, style):
    """-> (bold, starred) proxies of a row. Styles of the reference's tables:

    groups-and-star   best of each group bold, best of the row starred
    groups            best of each group bold
    row               the best of the row, bold and starred
    plain             nothing
    """
    measured = [c for c in columns if c.group != NO_PROXY]
    best = best_of({c.proxy: samples[c.proxy] for c in measured}, higher_is_better)
    if style == "plain":
        return set(), set()
    if style == "row":
        return best, best
    bold = set()
    for group in (COPYING, SPLICING):
        bold |= best_of({c.proxy: samples[c.proxy] for c in measured if c.group == group}, higher_is_better)
    return bold, best if style == "groups-and-star" else set()


def star_style(columns, lone_group):
    """Stars mean something only where there are two groups; where one of them has a single proxy, being the
    best of it says nothing, and tables of throughput mark the row alone."""
    sizes = [sum(c.group == group for c in columns) for group in (COPYING, SPLICING)]
    if 0 in sizes:
        return "groups"
    return lone_group if 1 in sizes else "groups-and-star"


def three_digits(value):
    """4.00, 10.7, 256, 1,490"""
    if round(value, 2) < 10:
        return f"{value:.2f}"
    if round(value, 1) < 100:
        return f"{value:.1f}"
    return f"{value:,.0f}"
