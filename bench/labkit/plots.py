"""The pictures: throughput, CPU per unit, latency percentiles, memory against connections.

Each is small multiples, one panel per scenario with its own scale, proxies in the same order and colour
everywhere, and a line over each bar from the worst run to the best.
"""

import base64
import io
import math

from . import layouts
from .tables import NO_PROXY

ACCENT = "#c4541a"          # headrace
PALETTE = ("#5b7aa8", "#7c9c6b", "#9a7fb0", "#b59a4c", "#5fa3a3", "#a86f7d", "#7d8794", "#86a1c9", "#a3b88f",
           "#c2a5cf", "#8c6d46")
NO_PROXY_COLOUR = "#cfd4dc"
PANELS_IN_A_ROW = 4
BARS_SHARE = 0.72


def draw(runs, columns):
    """{section's heading: [(alt text, data URI)]}; empty where matplotlib is missing."""
    try:
        import matplotlib
        matplotlib.use("Agg")
        matplotlib.rcParams.update({"svg.hashsalt": "lab", "font.size": 8, "axes.spines.top": False,
                                    "axes.spines.right": False, "axes.titlesize": 9, "svg.fonttype": "path"})
        import matplotlib.pyplot as pyplot
    except ImportError:
        return {}
    return _Pictures(pyplot, runs, columns).all()


class _Pictures:
    def __init__(self, pyplot, runs, columns):
        from matplotlib import ticker
        self.pyplot, self.ticker, self.runs, self.columns = pyplot, ticker, runs, columns
        self.colours = {}
        others = iter(PALETTE * 3)
        for c in columns:
            if c.group == NO_PROXY:
                self.colours[c.proxy] = NO_PROXY_COLOUR
            elif c.proxy == "headrace":
                self.colours[c.proxy] = ACCENT
            else:
                self.colours[c.proxy] = next(others)

    def all(self):
        drawn = {}
        for group, these in layouts.groups(self.runs).items():
            drawn[layouts.SECTIONS[group]] = list(self._of_group(group, these))
        return drawn

    def _of_group(self, group, these):
        if group == "idle":
            yield from self._memory(these)
            return
        yield from self._bars("throughput", these, _throughput)
        yield from self._bars("CPU of the proxy per unit", these, _cpu, no_proxy=False)
        yield from self._latency([s for s in these if s.kind != "stream"])

    def _panels(self, count, height):
        across = min(PANELS_IN_A_ROW, count)
        down = math.ceil(count / across)
        figure, axes = self.pyplot.subplots(down, across, figsize=(2.9 * across + 0.6, height * down + 0.2),
                                            squeeze=False)
        flat = [a for row in axes for a in row]
        for spare in flat[count:]:
            spare.set_visible(False)
        return figure, flat

    def _shown(self, one, figure, no_proxy=True):
        """[(Column, Sample)] of what there is."""
        out = []
        for c in self.columns:
            sample = self.runs.sample(c.proxy, one.name, figure)
            if sample and (no_proxy or c.group != NO_PROXY):
                out.append((c, sample))
        return out

    def _bars(self, what, scenarios, choose, no_proxy=True):
        panels = [(one, *choose(one)) for one in scenarios]
        panels = [p for p in panels if self._shown(p[0], p[1], no_proxy)]
        if not panels:
            return
        most = max(len(self._shown(one, column, no_proxy)) for one, column, *_ in panels)
        figure, axes = self._panels(len(panels), 0.55 + 0.2 * most)
        for axis, (one, column, scale, unit) in zip(axes, panels):
            shown = self._shown(one, column, no_proxy)
            places = range(len(shown))
            medians = [s.median * scale for _, s in shown]
            axis.barh(places, medians, BARS_SHARE, color=[self.colours[c.proxy] for c, _ in shown])
            for place, (_, sample) in zip(places, shown):
                low, high = min(sample.values) * scale, max(sample.values) * scale
                axis.plot([low, high], [place, place], color="#1d2330", linewidth=1)
            axis.set_yticks(list(places), [c.label for c, _ in shown])
            axis.invert_yaxis()
            axis.set_title(one.name, loc="left")
            axis.set_xlabel(unit)
        yield f"{what}, bars per proxy for {', '.join(p[0].name for p in panels)}", self._uri(figure, what)

    def _latency(self, scenarios):
        panels = [one for one in scenarios if self._shown(one, "p99_ms")]
        if not panels:
            return
        most = max(len(self._shown(one, "p99_ms")) for one in panels)
        figure, axes = self._panels(len(panels), 0.55 + 0.2 * most)
        for axis, one in zip(axes, panels):
            shown = self._shown(one, "p99_ms")
            for place, (c, _) in enumerate(shown):
                at = [self.runs.sample(c.proxy, one.name, f).median for f in ("p50_ms", "p90_ms", "p99_ms")]
                axis.plot(at, [place] * 3, color=self.colours[c.proxy], linewidth=1.5)
                for value, sign in zip(at, ("o", "|", "D")):
                    axis.plot([value], [place], sign, color=self.colours[c.proxy], markersize=5)
            axis.set_yticks(range(len(shown)), [c.label for c, _ in shown])
            axis.set_ylim(len(shown) - 0.5, -0.5)
            axis.set_xscale("log")
            axis.xaxis.set_major_locator(self.ticker.LogLocator(subs=(1, 2, 5), numticks=6))
            axis.xaxis.set_major_formatter(self.ticker.FuncFormatter(lambda value, _: f"{value:g}"))
            axis.xaxis.set_minor_locator(self.ticker.NullLocator())
            axis.set_title(one.name, loc="left")
            axis.set_xlabel("ms: dot p50, tick p90, diamond p99")
        yield "latency, 50th, 90th and 99th percentile per proxy", self._uri(figure, "latency")

    def _memory(self, scenarios):
        families = list(dict.fromkeys(s.family for s in scenarios))
        figure, axes = self._panels(len(families), 2.4)
        for axis, family in zip(axes, families):
            mine = sorted((s for s in scenarios if s.family == family), key=lambda s: s.connections)
            for c in self.columns:
                points = [(s.connections, self.runs.sample(c.proxy, s.name, "peak_mb").median) for s in mine]
                points = [p for p in points if not math.isnan(p[1])]
                if points:
                    axis.plot(*zip(*points), marker="o", markersize=3, color=self.colours[c.proxy], label=c.label)
            axis.set_title(f"idle, {family}", loc="left")
            axis.set_xlabel("connections held")
            axis.set_ylabel("MB")
            axis.set_ylim(bottom=0)
            axis.legend(frameon=False, fontsize=7)
        what = "memory against held connections"
        yield f"{what}, a line per proxy", self._uri(figure, what)

    def _uri(self, figure, title):
        """As an image of its own, so that the identifiers inside do not meet those of another."""
        figure.suptitle(title, x=0.01, ha="left", fontsize=10, fontweight="bold")
        figure.tight_layout()
        buffer = io.BytesIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None})
        self.pyplot.close(figure)
        return "data:image/svg+xml;base64," + base64.b64encode(buffer.getvalue()).decode()


def _throughput(one):
    return ("gbit", 1, "Gbit/s") if one.bulk else ("rate", 1e-3, "thousand per second")


def _cpu(one):
    return ("cpu_s_per_gb", 1, "s/GB") if one.bulk else ("cpu_us_per_req", 1, "µs per request")
