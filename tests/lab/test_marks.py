"""What bold, star, double dagger and dagger mean, on runs made by hand."""

import math

from labkit import layouts, report
from labkit.stats import Sample, best_of
from labkit.tables import COPYING, SPLICING
from made import run, runs_of, session, several

NAN = math.nan


def throughput(runs, **how):
    """{proxy: Cell} of the first row of the relay's table"""
    columns = layouts.make_columns(runs, **how)
    layout = layouts.Layout(runs, columns)
    table = layout.throughput("relay", layout.groups()["relay"])
    return dict(zip([c.proxy for c in table.columns], table.rows[0][1]))


def relay(proxy, *values, **others):
    return several(proxy, "relay-ka-1k", "rate", [v * 1000 for v in values], **others)


def marks(cells):
    return {proxy: ("b" if cell.bold else "") + ("*" if cell.star else "") for proxy, cell in cells.items()}


def test_bold_is_the_best_of_the_group_and_star_the_best_of_the_row():
    cells = throughput(runs_of(relay("nginx", 20, 21, 22), relay("squid", 10, 11, 12),
                               relay("haproxy-splice", 30, 31, 32), relay("headrace", 50, 51, 52)))
    assert marks(cells) == {"nginx": "b", "squid": "", "haproxy-splice": "", "headrace": "b*"}


def test_one_whose_fastest_run_reaches_the_bests_slowest_is_bold_too():
    cells = throughput(runs_of(relay("nginx", 20, 21, 22), relay("squid", 18, 19, 20), relay("dante", 18, 19, 19.9),
                               relay("haproxy-splice", 5, 5, 5), relay("headrace", 6, 6, 6)))
    assert marks(cells) == {"nginx": "b*", "squid": "b*", "dante": "", "haproxy-splice": "", "headrace": "b"}


def test_a_star_reaches_over_the_groups_by_the_same_rule():
    cells = throughput(runs_of(relay("nginx", 29, 30, 31), relay("squid", 1, 1, 1),
                               relay("haproxy-splice", 5, 5, 5), relay("headrace", 30.5, 31, 32)))
    assert marks(cells) == {"nginx": "b*", "squid": "", "haproxy-splice": "", "headrace": "b*"}


def test_a_single_splicing_proxy_gets_no_bold_for_being_alone():
    cells = throughput(runs_of(relay("nginx", 20, 20, 20), relay("squid", 10, 10, 10), relay("headrace", 15, 15, 15)))
    assert marks(cells) == {"nginx": "b*", "squid": "", "headrace": ""}


def test_with_one_group_alone_there_are_no_stars():
    cells = throughput(runs_of(relay("nginx", 20, 20, 20), relay("squid", 10, 10, 10)))
    assert marks(cells) == {"nginx": "b", "squid": ""}


def test_lower_is_better_turns_the_rule_around():
    samples = {"a": Sample([5, 6, 7]), "b": Sample([7, 8, 9]), "c": Sample([7.1, 8, 9])}
    assert best_of(samples, higher_is_better=False) == {"a", "b"}


def test_a_lost_row_is_shown_like_any_other():
    cells = throughput(runs_of(relay("nginx", 20, 20, 20), relay("headrace", 1, 1, 1),
                               relay("haproxy-splice", 2, 2, 2)))
    assert (cells["headrace"].text, marks(cells)["headrace"]) == ("1.0", "")


def test_a_missing_cell_is_a_dash_and_never_the_best():
    runs = runs_of(relay("nginx", 20), relay("headrace", 5), [run("squid", "relay-close-1k", rate=3.0)])
    cells = throughput(runs)
    assert (cells["squid"].text, cells["squid"].bold) == ("–", False)


def test_nan_counts_for_nothing_and_does_not_shift_the_median():
    cells = throughput(runs_of(relay("nginx", 20, NAN, 30), relay("squid", NAN, NAN, NAN), relay("headrace", 1)))
    assert (cells["nginx"].text, cells["squid"].text) == ("25.0", "–")


def test_a_double_dagger_needs_most_runs_bound_by_client_or_origin():
    def bound(*sides):
        return [run("nginx", "relay-ka-1k", i, rate=1000.0, bound=side) for i, side in enumerate(sides)]
    for sides, limited in ((("client", "server", "proxy"), True), (("client", "proxy", "none"), False),
                           (("client", "proxy"), False)):
        assert throughput(runs_of(bound(*sides)))["nginx"].limited is limited


def test_the_median_leaves_a_marked_run_out_and_the_cell_says_so():
    runs = runs_of(relay("nginx", 20, 21, 99), relay("headrace", 5, 5, 5),
                   marks={("nginx", "relay-ka-1k", 2): "the proxy died"})
    cell = throughput(runs)["nginx"]
    assert (cell.text, cell.left_out) == ("20.5", True)
    assert any("nginx relay-ka-1k: 1 of 3 left out (rep 2: the proxy died)" in line
               for line in report.notes(runs.session, runs))


def test_a_cell_with_every_run_left_out_is_missing_and_marked():
    runs = runs_of(relay("nginx", 20), relay("headrace", 5), marks={("nginx", "relay-ka-1k", 0): "3 wrong answers"})
    cell = throughput(runs)["nginx"]
    assert (cell.text, cell.left_out, cell.bold) == ("–", True, False)


def test_groups_follow_names_provenance_and_the_users_word_in_that_order():
    runs = runs_of(relay("headrace", 1), relay("headrace-splice=never", 1), relay("haproxy-splice-forced", 1),
                   relay("3proxy-devel", 1), relay("3proxy-devel-s0-g8000,2,2", 1), relay("3proxy-1.0.1", 1),
                   relay("mine", 1), relay("other", 1), peers={"mine": {"splices": True}})
    groups = {c.proxy: c.group for c in layouts.make_columns(runs, splicing=["other"], copying=["headrace"])}
    assert groups == {"headrace": COPYING, "headrace-splice=never": COPYING, "haproxy-splice-forced": SPLICING,
                      "3proxy-devel": SPLICING, "3proxy-devel-s0-g8000,2,2": COPYING, "3proxy-1.0.1": COPYING,
                      "mine": SPLICING, "other": SPLICING}


def test_slope_and_intercept_of_held_connections():
    """The reference's own figures: 86 MB at 1,000 and 1,459 at 20,000 make 74 KB each."""
    made = [run("tlsproxy", f"idle-tls-term-{n}", peak_mb=mb) for n, mb in ((1000, 86.0), (5000, 417.0), (20000, 1459.0))]
    runs = runs_of(made)
    layout = layouts.Layout(runs, layouts.make_columns(runs))
    rows = {label: cells[0].text for label, cells in layout.held(layout.groups()["idle"]).rows}
    assert rows["tls-term, 5,000"] == "417.0"
    assert rows["tls-term: one more connection (1,000 to 20,000)"] == "74.0 KB"
    assert rows["tls-term: fixed"] == "13.7 MB"


def test_sessions_of_one_label_are_put_together_as_further_repetitions():
    a = session(relay("nginx", 10, 20), label="here")
    b = session(relay("nginx", 30), label="here", marks={("nginx", "relay-ka-1k", 0): "the proxy died"})
    merged = report._merge(a, b)
    assert [r.rep for r in merged.runs] == [0, 1, 2]
    assert merged.mark(merged.runs[2]) == "the proxy died"


def test_a_rate_that_was_asked_for_has_no_best():
    made = [run("nginx", "rate-relay-2k", rate=1998.0), run("haproxy", "rate-relay-2k", rate=1450.0)]
    runs = runs_of(made)
    layout = layouts.Layout(runs, layouts.make_columns(runs))
    tables = dict(layout.plain())[layouts.SECTIONS["rate"]]
    cells = tables[0].rows[0][1]
    assert [(c.text, c.bold) for c in cells] == [("1,998", False), ("1,450", False)]
