"""Runs made by hand: only what a test is about has to be said."""

from labkit.results import Run, Session
from labkit.stats import Runs


def run(proxy, scenario, rep=0, **values):
    return Run(proxy, scenario, rep, **values)


def several(proxy, scenario, figure, values, **others):
    """A run for each value."""
    return [run(proxy, scenario, rep, **{figure: value}, **others) for rep, value in enumerate(values)]


def session(*groups, marks=(), label="", **provenance):
    """groups: lists of runs; marks: {(proxy, scenario, rep): why it is left out}"""
    runs = [one for group in groups for one in group]
    details = {key: {"mark": why} for key, why in dict(marks).items()}
    return Session(label, runs, details, provenance)


def runs_of(*groups, **how):
    return Runs(session(*groups, **how))
