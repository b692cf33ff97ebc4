"""`lab report` and `lab compare` as commands."""

import json
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
    assert html.count('<svg class="panel"') == 6      # throughput and CPU of two, latency of one, memory by connections
    assert not re.search(r'(?:src|href)="(?!#)|url\(', html) and "<script" not in html and "@import" not in html


def test_two_machines_have_tables_of_their_own(tmp_path):
    a, b = write(tmp_path / "a.csv", some()), write(tmp_path / "b.csv", some(0.5))
    text = lab("report", f"ARM={a}", f"Intel={b}").stdout
    assert "scenario (ARM)" in text and "scenario (Intel)" in text and "| 17.5 |" in text


def test_columns_are_chosen_ordered_and_called_as_asked(tmp_path):
    csv = write(tmp_path / "x.csv", some())
    text = lab("report", csv, "--column", "haproxy=ha", "--column", "headrace=ours").stdout
    assert "| scenario | ha | ‖ | ours |" in text
    assert "no such proxy" in lab("report", csv, "--column", "nginy", check=False).stderr


def test_the_link_layout_has_process_and_busy_in_one_cell(tmp_path):
    csv = write(tmp_path / "x.csv", some())
    text = lab("report", csv, "--layout", "link").stdout
    assert re.search(r"\| relay-ka-1k, process / busy CPU µs \| 24 / 33 \|", text)


def test_rows_that_a_peer_wins_are_listed_and_the_others_counted(tmp_path):
    text = lab("report", write(tmp_path / "x.csv", some(0.75))).stdout
    assert "in 1 of 2 rows of CPU, 1 of 2 rows of throughput, 1 of 1 rows of p99, 4 of 4 rows of memory" in text
    assert "| relay-ka-1k | CPU | nginx | 33.3 µs | 38.1 µs | 14% |" in text
    assert "| relay-ka-1k | throughput | nginx | 30,001 /s | 26,251 /s | 12% |" in text
    assert "in 2 of 2 rows of CPU" in lab("report", write(tmp_path / "y.csv", some(1.2))).stdout


def sitting(directory, runs, started, *words):
    directory.mkdir()
    write(directory / "results.csv", runs)
    (directory / "provenance.json").write_text(json.dumps({
        "started": started, "commit": "0123456789ab", "machine": {"cpu": "A Processor", "cpus": 2, "memory_mb": 4096},
        "setting": {"cpus": "cli=0,prx=1,srv=0", "link": "none"},
        "options": {"seconds": 10, "warmup": 1, "command": ["run", "--out", "/somewhere/of/mine", *words]}, "peers": {}}))
    return str(directory)


def test_a_page_tells_every_sitting_and_no_place_of_the_machine(tmp_path):
    a = sitting(tmp_path / "a", some(), "2026-01-01", "--scenarios", "plain")
    b = sitting(tmp_path / "b", some(), "2026-01-02", "--scenarios", "idle")
    text = lab("report", f"Mine={a}", f"Mine={b}", "--title", "Benchmarks").stdout
    assert text.startswith("# Benchmarks\n") and "somewhere" not in text and str(tmp_path) not in text
    assert "* 2026-01-01, commit 0123456789ab; `lab run --scenarios plain`" in text
    assert "* 2026-01-02, commit 0123456789ab; `lab run --scenarios idle`" in text


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


def test_compare_says_how_many_medians_agree_and_names_the_others(tmp_path):
    a = write(tmp_path / "a.csv", some())
    assert re.search(r"(\d+) of \1 medians of CPU per unit agree within 7 %\n$", lab("compare", a, a).stdout)
    text = lab("compare", a, write(tmp_path / "b.csv", some(1.2))).stdout
    near, of = map(int, re.search(r"(\d+) of (\d+) medians of CPU per unit agree within 7 %; not these:", text).groups())
    named = re.findall(r"^- (\S+) (\S+): ([\d.]+) % apart$", text, re.M)
    assert near < of and len(named) == of - near
    assert all(proxy == "headrace" and float(far) > 7 for proxy, _, far in named)
