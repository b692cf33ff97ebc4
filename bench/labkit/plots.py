"""The pictures: throughput, CPU per unit, latency percentiles, memory against connections.

Small multiples in SVG, written by hand: one panel per scenario with a scale of its own, the proxies in the
table's order. They stand in the page as elements of it, so that its style sheet gives the colours (also the
dark ones) and lets the panels flow with the width of the window. Lengths are in the units of a panel's view.
"""

import math
from html import escape

from .tables import COPYING, NO_PROXY, SPLICING, three_digits

WIDTH = 380
FONT = 11
CHARACTER = 6.1             # of that font, on average; a little more than it needs
BOLD_CHARACTER = 7.0
ROW = 17
BAR = 10
TOP = 30                    # title and unit
VALUE_ROOM = 62             # behind the longest bar, for its figure
PLOT_HEIGHT = 190           # of the memory panels
LINE_COLOURS = 8            # of the style sheet: --line-0 and on
TICKS_WANTED = 5


def panels(table, runs):
    """[SVG] of a table, one for each of its scenarios that has figures."""
    drawn = {"throughput": _throughput, "cpu": _cpu, "latency": _latency, "held": _memory}.get(table.kind)
    return [panel for panel in drawn(table, runs) if panel] if drawn else []


def colour_class(column):
    """One colour per group, and one for the proxy that all this is about."""
    if column.proxy == "headrace" or column.proxy.startswith("headrace-"):
        return "ours"
    return {COPYING: "copying", SPLICING: "splicing", NO_PROXY: "direct"}[column.group]


def ticks(highest):
    """Round numbers from 0 up to what is shown: 1, 2 or 5 times a power of ten apart."""
    if not highest > 0:
        return [0]
    rough = highest / TICKS_WANTED
    power = 10 ** math.floor(math.log10(rough))
    step = next(power * m for m in (1, 2, 5, 10) if power * m >= rough * (1 - 1e-9))
    return [step * i for i in range(int(highest / step * (1 + 1e-9)) + 1)]


def log_ticks(low, high):
    """1, 2 and 5 times the powers of ten inside; always at least one."""
    found = [m * 10.0 ** e for e in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
             for m in (1, 2, 5)]
    inside = [t for t in found if low <= t <= high]
    return inside if len(inside) <= TICKS_WANTED + 1 else [t for t in inside if f"{t:e}"[0] == "1"] or inside[:1]


def _throughput(table, runs):
    for one in table.scenarios:
        figure, scale, unit = ("gbit", 1, "Gbit/s") if one.bulk else ("rate", 1e-3, "thousand per second")
        yield _bars(table, runs, one, figure, scale, unit, limits=True)


def _cpu(table, runs):
    for one in table.scenarios:
        figure, unit = ("cpu_s_per_gb", "s per GB") if one.bulk else ("cpu_us_per_req", "µs each")
        yield _bars(table, runs, one, figure, 1, unit, no_proxy=False)


def _samples(table, runs, one, figure, no_proxy=True):
    """[(Column, Sample)] of what there is."""
    found = [(c, runs.sample(c.proxy, one.name, figure)) for c in table.columns
             if no_proxy or c.group != NO_PROXY]
    return [(c, sample) for c, sample in found if sample]


def _left(shown):
    """Where the labels of the rows end."""
    return max(_label_width(c) for c, _ in shown) + 8


def _label_width(column):
    return len(column.label) * (BOLD_CHARACTER if colour_class(column) == "ours" else CHARACTER)


def _bars(table, runs, one, figure, scale, unit, no_proxy=True, limits=False):
    """A bar for the median, a line over it from the worst run to the best, the figure behind it."""
    shown = _samples(table, runs, one, figure, no_proxy)
    if not shown:
        return ""
    left = _left(shown)
    highest = max(max(sample.values) for _, sample in shown) * scale
    per_unit = (WIDTH - left - VALUE_ROOM) / highest if highest > 0 else 0
    out = []
    for row, (c, sample) in enumerate(shown):
        middle = TOP + ROW * row + ROW / 2
        median = sample.median * scale
        low, high = (left + f(sample.values) * scale * per_unit for f in (min, max))
        mark = " ‡" if limits and c.group != NO_PROXY and runs.limited(c.proxy, one.name) else ""
        out += [_text(left - 6, middle, c.label, "label" + (" strong" if colour_class(c) == "ours" else "")),
                f'<rect class="{colour_class(c)}" x="{left:.1f}" y="{middle - BAR / 2:.1f}" '
                f'width="{median * per_unit:.1f}" height="{BAR}"/>']
        if high - low >= 1:
            out.append(_line(low, middle, high, middle, "spread"))
        out.append(_text(max(high, left + median * per_unit) + 5, middle, three_digits(median) + mark, "value"))
    out.append(_line(left, TOP, left, TOP + ROW * len(shown), "axis"))
    return _panel(one.name, unit, TOP + ROW * len(shown) + 4, out)


def _latency(table, runs):
    for one in table.scenarios:
        yield _percentiles(table, runs, one)


def _percentiles(table, runs, one):
    """On a logarithmic scale: a dot for the median, a tick for the 90th percentile, a diamond for the 99th."""
    shown = _samples(table, runs, one, "p99_ms")
    if not shown:
        return ""
    at = {c: [max(runs.sample(c.proxy, one.name, f).median, 1e-3) for f in ("p50_ms", "p90_ms", "p99_ms")]
          for c, _ in shown}
    known = [v for values in at.values() for v in values if v == v]
    low, high = min(known) / 1.15, max(known) * 1.15
    left, bottom = _left(shown), TOP + ROW * len(shown)
    right = WIDTH - 14

    def x(value):
        return left + (right - left) * math.log(value / low) / math.log(high / low)

    out = []
    for tick in log_ticks(low, high):
        out += [_line(x(tick), TOP, x(tick), bottom, "grid"), _text(x(tick), bottom + 10, f"{tick:g}", "tick")]
    for row, (c, _) in enumerate(shown):
        middle = TOP + ROW * row + ROW / 2
        p50, p90, p99 = at[c]
        kind = colour_class(c)
        out += [_text(left - 6, middle, c.label, "label" + (" strong" if kind == "ours" else "")),
                _line(x(p50), middle, x(p99), middle, f"{kind} reach"),
                f'<circle class="{kind}" cx="{x(p50):.1f}" cy="{middle:.1f}" r="3.5"/>',
                f'<path class="{kind}" d="M{x(p99):.1f} {middle - 4.5:.1f}l4.5 4.5l-4.5 4.5l-4.5 -4.5z"/>']
        if p90 == p90:
            out.append(_line(x(p90), middle - 4, x(p90), middle + 4, f"{kind} reach"))
    out.append(_line(left, bottom, right, bottom, "axis"))
    return _panel(one.name, "ms: ● p50, | p90, ◆ p99", bottom + 18, out)


def _memory(table, runs):
    """A line per proxy, its name at the line's end."""
    for family in dict.fromkeys(s.family for s in table.scenarios):
        mine = sorted((s for s in table.scenarios if s.family == family), key=lambda s: s.connections)
        lines = []
        for number, c in enumerate(table.columns):
            points = [(s.connections, runs.sample(c.proxy, s.name, "peak_mb").median) for s in mine]
            points = [p for p in points if p[1] == p[1]]
            if points:
                lines.append((c, number, points))
        yield _lines(f"idle-{family}", lines) if lines else ""


def _lines(title, lines):
    left, right = 44, WIDTH - max(_label_width(c) for c, _, _ in lines) - 10
    bottom = TOP + PLOT_HEIGHT
    most = max(x for _, _, points in lines for x, _ in points)
    highest = max(y for _, _, points in lines for _, y in points) * 1.05

    def at(point):
        return left + (right - left) * point[0] / most, bottom - PLOT_HEIGHT * point[1] / highest

    out = []
    for tick in ticks(highest):
        y = at((0, tick))[1]
        out += [_line(left, y, right, y, "grid"), _text(left - 6, y, f"{tick:,g}", "label")]
    for tick in ticks(most):
        out.append(_text(at((tick, 0))[0], bottom + 10, f"{tick:,g}", "tick"))
    ends = apart([at(points[-1])[1] for _, _, points in lines], FONT + 1, bottom)
    for (c, number, points), label_y in zip(lines, ends):
        ours = colour_class(c) == "ours"
        kind = "ours" if ours else f"line{number % LINE_COLOURS}"
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(at, points))
        out.append(f'<polyline class="{kind} reach" points="{path}"/>')
        out += [f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="2.5"/>' for x, y in map(at, points)]
        out.append(_text(right + 6, label_y, c.label, f"value {kind}" + (" strong" if ours else "")))
    out += [_line(left, bottom, right, bottom, "axis"),
            _text((left + right) / 2, bottom + 24, "connections held", "tick")]
    return _panel(title, "MB", bottom + 32, out)


def apart(wanted, distance, bottom):
    """Heights for labels that would like to stand there, moved until none is over another."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    placed = [0.0] * len(wanted)
    last = bottom + distance
    for i in reversed(order):
        last = placed[i] = min(wanted[i], last - distance)
    return placed


def _panel(title, unit, height, inside):
    head = [f'<text class="title" x="0" y="12">{escape(title)}</text>',
            f'<text class="unit" x="{WIDTH}" y="12">{escape(unit)}</text>']
    return (f'<svg class="panel" viewBox="0 0 {WIDTH} {height:.0f}" role="img" '
            f'aria-label="{escape(title)}, {escape(unit)}">' + "".join(head + inside) + "</svg>")


def _text(x, middle, text, kind):
    return f'<text class="{kind}" x="{x:.1f}" y="{middle + FONT * 0.35:.1f}">{escape(text)}</text>'


def _line(x1, y1, x2, y2, kind):
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'
