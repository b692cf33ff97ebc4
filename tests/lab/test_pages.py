"""`lab report` and `lab compare` as commands."""

import re
import subprocess
import sys

import pytest
from conftest import BENCH
from labkit import compare, results
from labkit.stats import Sample
from made import run, several

LAB = [sys.executable, str(BENCH / "lab")]


def write(path, runs):
    with open(path, "w", newline="") as file:
        results.write_header(file)
        for one in runs:
            results.write_row(file, one)
    return str(path)


def some(scale=1.0):
    rates = dict(nginx=30_000, haproxy=28_000, headrace=35_000)
    out = []
    for proxy, rate in rates.items():
        factor = scale if proxy == "headrace" else 1.0
        for rep in range(3):
            out.append(run(proxy, "relay-ka-1k", rep, rate=rate * factor + rep, gbit=rate * 8192e-9, p50_ms=1.5,
                           p90_ms=1.8, p99_ms=2.0, cpu_us_per_req=1e6 / rate / factor, peak_mb=5.0, prx_cpu_s=9.9,
                           prx_task_s=7.0, bound="proxy"))
        out += several(proxy, "relay-stream16", "gbit", [12.0, 12.5, 13.0], cpu_s_per_gb=0.64, peak_mb=5.0)
        out += [run(proxy, f"idle-relay-{n}", peak_mb=2 + n / 1000) for n in (1000, 8000)]
    return out


def lab(*words, check=True):
    done = subprocess.run([*LAB, *words], capture_output=True, text=True)
    assert done.returncode == 0 or not check, done.stderr
    return done


def test_anyones_csv_gives_tables_and_a_page_that_fetches_nothing(tmp_path):
    csv = write(tmp_path / "x.csv", some())
    page = tmp_path / "x.html"
    text = lab("report", f"Mine={csv}", "--html", str(page)).stdout
    assert "| scenario (Mine) | nginx | haproxy | ‖ | headrace |" in text
    assert "| ka-1k, k req/s | 30.0 | 28.0 | ‖ | **35.0** * |" in text
    html = page.read_text()
    assert html.count("data:image/svg+xml;base64,") >= 4
    assert not re.search(r'(?:src|href)="(?!data:|#)', html) and "<script" not in html and "@import" not in html


def test_two_machines_have_tables_of_their_own(tmp_path):
    a, b = write(tmp_path / "a.csv", some()), write(tmp_path / "b.csv", some(0.5))
    text = lab("report", f"ARM={a}", f"Intel={b}").stdout
    assert "scenario (ARM)" in text and "scenario (Intel)" in text and "| 17.5 |" in text


def test_columns_are_chosen_ordered_and_called_as_asked(tmp_path):
    csv = write(tmp_path / "x.csv", some())
    text = lab("report", csv, "--column", "haproxy=ha", "--column", "headrace=ours").stdout
    assert "| scenario (x) | ha | ‖ | ours |" in text
    assert "no such proxy" in lab("report", csv, "--column", "nginy", check=False).stderr


def test_the_link_layout_has_process_and_busy_in_one_cell(tmp_path):
    csv = write(tmp_path / "x.csv", some())
    text = lab("report", csv, "--layout", "link").stdout
    assert re.search(r"\| relay-ka-1k, process / busy CPU µs \| 24 / 33 \|", text)


def test_a_csv_of_another_kind_is_refused_in_one_line(tmp_path):
    path = tmp_path / "no.csv"
    path.write_text("a,b\n1,2\n")
    done = lab("report", str(path), check=False)
    assert done.returncode == 1 and done.stderr.startswith("lab: ") and done.stderr.count("\n") == 1


@pytest.mark.parametrize("before, after, higher, word", [
    ([10, 11, 12], [13, 14, 15], True, compare.BETTER), ([10, 11, 12], [13, 14, 15], False, compare.WORSE),
    ([10, 11, 12], [12, 13, 14], True, compare.SAME), ([13, 14, 15], [10, 11, 12], True, compare.WORSE),
    ([10], [13], True, compare.UNKNOWN), ([10, 11], [10.5], True, compare.SAME),
])
def test_a_difference_is_one_only_beyond_the_spread_of_both(before, after, higher, word):
    assert compare.verdict(Sample(before), Sample(after), higher) == word


def test_compare_shows_what_changed_and_counts_what_did_not(tmp_path):
    a, b = write(tmp_path / "a.csv", some()), write(tmp_path / "b.csv", some(1.2))
    text = lab("compare", a, b).stdout
    assert re.search(r"\| headrace \| relay-ka-1k \| throughput \|.*\| \+20.0% \| better \|", text)
    assert "| nginx |" not in text and "within the spread" in text
