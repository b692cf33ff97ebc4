"""Medians over repetitions, and when two sets of runs can be told apart."""

import math
import statistics
from collections import defaultdict


class Sample:
    """One figure of one proxy in one scenario, over the repetitions that count. NaNs are none."""

    def __init__(self, values):
        self.values = [v for v in values if not math.isnan(v)]

    def __bool__(self):
        return bool(self.values)

    @property
    def median(self):
        return statistics.median(self.values) if self.values else math.nan

    def reaches(self, best, higher_is_better):
        """Its best run is no worse than the best one's worst: the two cannot be told apart."""
        if higher_is_better:
            return max(self.values) >= min(best.values)
        return min(self.values) <= max(best.values)


def best_of(samples, higher_is_better):
    """Keys of {key: Sample} that are the best by median, or cannot be told apart from it."""
    known = {key: sample for key, sample in samples.items() if sample}
    if not known:
        return set()
    pick = max if higher_is_better else min
    best = known[pick(known, key=lambda key: known[key].median)]
    return {key for key, sample in known.items() if sample is best or sample.reaches(best, higher_is_better)}


class Runs:
    """The runs of a session by proxy and scenario, those that count apart from those that were left out."""

    def __init__(self, session, wanted=()):
        """wanted: only these scenarios, in that order; all of them if it is empty"""
        self.session = session
        self.wanted = [name for name in wanted if any(run.scenario == name for run in session.runs)]
        self.counted = defaultdict(list)
        self.left_out = defaultdict(list)
        for run in session.runs:
            place = self.left_out if session.mark(run) else self.counted
            place[run.proxy, run.scenario].append(run)

    def sample(self, proxy, scenario, figure):
        """figure: a column's name, or a function of a run."""
        value = figure if callable(figure) else lambda run: getattr(run, figure)
        return Sample([value(run) for run in self.counted.get((proxy, scenario), [])])

    def limited(self, proxy, scenario):
        """Most runs had the client or the origin set the pace: the proxy can do at least that much."""
        runs = self.counted.get((proxy, scenario), [])
        return sum(run.bound in ("client", "server") for run in runs) * 2 > len(runs)

    def has_left_out(self, proxy, scenario):
        return bool(self.left_out.get((proxy, scenario)))

    @property
    def proxies(self):
        return list(dict.fromkeys(run.proxy for run in self.session.runs))

    @property
    def scenarios(self):
        return list(dict.fromkeys(run.scenario for run in self.session.runs))
