"""`lab compare A B`: before and after, and which differences are beyond the runs' own spread."""

import math
import sys

from .errors import LabError
from .layouts import in_order
from .results import read_session
from .scenario import parse
from .stats import Runs
from .tables import three_digits

# (title, higher is better, figure of bulk scenarios, of the others)
FIGURES = (
    ("throughput", True, "gbit", "rate"),
    ("CPU per unit", False, "cpu_s_per_gb", "cpu_us_per_req"),
    ("p99 latency", False, None, "p99_ms"),
    ("peak memory", False, "peak_mb", "peak_mb"),
)
# Medians of CPU per unit that lie no further apart than this count as the same measurement repeated.
AGREEMENT_PERCENT = 7
BETTER, WORSE, SAME, UNKNOWN = "better", "worse", "within the spread", "one run: spread unknown"


def add_arguments(parser):
    parser.add_argument("before", metavar="A", help="results directory or CSV")
    parser.add_argument("after", metavar="B")
    parser.add_argument("--proxy", nargs=2, metavar=("A", "B"),
                        help="compare proxy A of the first with B of the second")
    parser.add_argument("--all", action="store_true", help="also show what is within the spread")


def verdict(before, after, higher_is_better):
    """Beyond the spread: the two sets of runs do not overlap."""
    if min(before.values) <= max(after.values) and min(after.values) <= max(before.values):
        return SAME
    if len(before.values) < 2 or len(after.values) < 2:
        return UNKNOWN
    return BETTER if (after.median > before.median) == higher_is_better else WORSE


def differences(before, after, pairs):
    """(proxy, scenario, figure's title, Sample before, Sample after, verdict) of all that both have."""
    for name in in_order([s for s in before.scenarios if s in after.scenarios]):
        one = parse(name)
        bulk = one.bulk if one else False
        for proxy_a, proxy_b in pairs:
            for title, higher, for_bulk, for_requests in FIGURES:
                figure = for_bulk if bulk else for_requests
                if figure is None:
                    continue
                a, b = before.sample(proxy_a, name, figure), after.sample(proxy_b, name, figure)
                if a and b:
                    yield proxy_b, name, title, a, b, verdict(a, b, higher)


def main(arguments):
    before, after = (Runs(read_session(path)) for path in (arguments.before, arguments.after))
    if arguments.proxy:
        pairs = [tuple(arguments.proxy)]
    else:
        pairs = [(p, p) for p in before.proxies if p in after.proxies]
    found = list(differences(before, after, pairs))
    if not found:
        raise LabError("the two have no proxy and scenario in common")
    shown = [d for d in found if arguments.all or d[5] != SAME]
    out = ["| proxy | scenario | figure | before | after | change | verdict |", "|---|---|---|---:|---:|---:|---|"]
    for proxy, name, title, a, b, word in shown:
        change = (b.median / a.median - 1) * 100 if a.median else math.inf
        out.append(f"| {proxy} | {name} | {title} | {spread(a)} | {spread(b)} | {change:+.1f}% | {word} |")
    same = sum(d[5] == SAME for d in found)
    out.append(f"\n{len(found)} figures in both: {sum(d[5] == BETTER for d in found)} better, "
               f"{sum(d[5] == WORSE for d in found)} worse, {same} within the spread"
               + ("" if arguments.all else " (not shown; --all shows them)"))
    out += ["", *agreement(found)]
    sys.stdout.write("\n".join(out) + "\n")
    return 0


def agreement(found):
    """Of two runs of the same programs: how many medians of CPU per unit they agree on, and which they do not."""
    apart = {(proxy, name): abs(b.median / a.median - 1) * 100
             for proxy, name, title, a, b, _ in found if title == "CPU per unit" and a.median}
    beyond = sorted(((far, row) for row, far in apart.items() if far > AGREEMENT_PERCENT), reverse=True)
    yield (f"{len(apart) - len(beyond)} of {len(apart)} medians of CPU per unit agree within {AGREEMENT_PERCENT} %"
           + ("; not these:" if beyond else ""))
    for far, (proxy, name) in beyond:
        yield f"- {proxy} {name}: {far:.1f} % apart"


def spread(sample):
    """Median and, where there are several, the worst and the best run."""
    text = number(sample.median)
    if len(sample.values) > 1:
        text += f" ({number(min(sample.values))} to {number(max(sample.values))})"
    return text


def number(value):
    return three_digits(value) if value >= 0.1 else f"{value:.4f}"
