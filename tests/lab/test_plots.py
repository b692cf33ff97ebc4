"""The pictures are to scale, and nothing in them lies over anything else."""

import re

import pytest
from labkit import layouts, plots
from labkit.tables import COPYING, SPLICING, Column
from made import run, runs_of, several

COLUMNS = [Column("nginx", "nginx", COPYING), Column("headrace", "headrace", SPLICING)]


def rate_runs():
    return runs_of([*several("nginx", "relay-ka-1k", "rate", [18e3, 20e3, 21e3]),
                    *several("headrace", "relay-ka-1k", "rate", [40e3, 40e3, 40e3])])


def throughput(runs):
    layout = layouts.Layout(runs, COLUMNS)
    return layout.throughput("relay", layout.groups()["relay"])


def test_bars_are_as_long_as_their_medians():
    [panel] = plots.panels(throughput(rate_runs()), rate_runs())
    nginx, ours = (float(w) for w in re.findall(r'<rect class="(?:copying|ours)"[^>]* width="([\d.]+)"', panel))
    assert ours / nginx == pytest.approx(2.0, rel=0.01)
    assert '<rect class="ours"' in panel and ">20.0<" in panel and ">40.0<" in panel


def test_the_spread_is_drawn_from_the_worst_run_to_the_best():
    [panel] = plots.panels(throughput(rate_runs()), rate_runs())
    [(x1, x2)] = re.findall(r'<line class="spread" x1="([\d.]+)" y1="[\d.]+" x2="([\d.]+)"', panel)
    left = float(re.search(r'<rect class="copying" x="([\d.]+)"', panel)[1])
    assert (float(x2) - left) / (float(x1) - left) == pytest.approx(21 / 18, rel=0.01)


def test_scenarios_without_a_figure_have_no_panel():
    runs = runs_of([run("nginx", "relay-ka-1k"), *several("nginx", "relay-close-1k", "rate", [1e3])])
    assert len(plots.panels(throughput(runs), runs)) == 1


@pytest.mark.parametrize("highest, expected", [(1, [0, .2, .4, .6, .8, 1]), (37.2, [0, 10, 20, 30]),
                                               (9000, [0, 2000, 4000, 6000, 8000]), (0, [0])])
def test_ticks_are_round_and_few(highest, expected):
    assert plots.ticks(highest) == pytest.approx(expected)


@pytest.mark.parametrize("low, high, expected", [(1.4, 21, [2, 5, 10, 20]), (0.1, 100000, [.1, 1, 10, 100, 1e3, 1e4, 1e5]),
                                                 (2.1, 2.4, [])])
def test_logarithmic_ticks(low, high, expected):
    assert plots.log_ticks(low, high) == pytest.approx(expected)


def test_labels_at_the_ends_of_lines_keep_apart():
    placed = plots.apart([100.0, 101.0, 99.0, 20.0], 12, 110)
    assert placed[3] == 20.0 and max(placed) <= 110
    gaps = [b - a for a, b in zip(sorted(placed), sorted(placed)[1:])]
    assert min(gaps) >= 12


def test_memory_has_a_line_per_proxy_and_its_name_at_the_end():
    runs = runs_of([run(c.proxy, f"idle-relay-{n}", peak_mb=n / 1000 * (2 if c.proxy == "nginx" else 1))
                    for c in COLUMNS for n in (1000, 4000, 8000)])
    layout = layouts.Layout(runs, COLUMNS)
    [panel] = plots.panels(layout.held(layout.groups()["idle"]), runs)
    assert panel.count("<polyline") == 2 and "connections held" in panel and ">nginx<" in panel
