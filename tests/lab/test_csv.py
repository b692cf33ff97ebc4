"""The CSV, as the reference's format page has it."""

import io
import math

import pytest
from labkit import results
from labkit.errors import LabError
from made import run

HEADER = ("proxy,scenario,rep,gbit,rate,p50_ms,p90_ms,p99_ms,errors,timeouts,retrans,prx_cpu_s,prx_task_s,"
          "cpu_s_per_gb,cpu_us_per_req,peak_mb,cli_util,prx_util,srv_util,cli_thread,srv_thread,bound")
STREAM = ("3proxy-devel-s0,relay-stream16,0,0.2905749818777497,nan,nan,nan,nan,0,0,1196,7.04,3.539799,"
          "19.355292792792792,nan,3.2421875,0.018585566014965003,0.5950972104818258,0.2585034013605442,"
          "0.01330959104850493,0.3009305683515213,none")
QUOTED = ('"3proxy-devel-s0-g8000,2,2",mix-relay-3k,0,0.4759803728,1877,2097.152,3801.088,6553.6,0,0,0,8.15,'
          "4.499046,13.698043811440119,434.20351624933403,1482.12109375,0.795650673110114,0.7044079515989629,"
          "0.25264124942581534,1.6394705450301938,0.29679765867818125,client")


def csv_file(tmp_path, *lines):
    path = tmp_path / "some.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_header_and_the_references_rows_come_back_byte_for_byte(tmp_path):
    runs = results.read_csv(csv_file(tmp_path, HEADER, STREAM, QUOTED))
    out = io.StringIO()
    results.write_header(out)
    for one in runs:
        results.write_row(out, one)
    assert out.getvalue().splitlines() == [HEADER, STREAM, QUOTED]


def test_a_quoted_name_keeps_its_commas_and_nan_stays_unknown(tmp_path):
    stream, mix = results.read_csv(csv_file(tmp_path, HEADER, STREAM, QUOTED))
    assert mix.proxy == "3proxy-devel-s0-g8000,2,2"
    assert math.isnan(stream.rate) and math.isnan(stream.cpu_us_per_req)
    assert (mix.rep, mix.rate, mix.bound) == (0, 1877, "client")


def test_an_empty_cell_is_unknown_and_further_columns_do_not_matter(tmp_path):
    path = csv_file(tmp_path, HEADER + ",note", STREAM.replace(",1196,", ",,") + ",mine")
    assert math.isnan(results.read_csv(path)[0].retrans)


@pytest.mark.parametrize("lines, said", [
    ([HEADER.replace(",bound", ""), STREAM], "no column bound"),
    ([HEADER, STREAM.replace("7.04", "many")], "some.csv:2"),
    (["", ""], "no column"),
])
def test_what_is_no_such_csv_is_refused_with_the_place(tmp_path, lines, said):
    with pytest.raises(LabError, match=said):
        results.read_csv(csv_file(tmp_path, *lines))


def test_each_run_is_on_the_disk_as_soon_as_it_is_over(tmp_path):
    store = results.Store(tmp_path / "out")
    assert store.open() == []
    store.add(run("nginx", "relay-ka-1k", rate=5.0), {"mark": ""})
    store.add(run("nginx", "relay-ka-1k", rep=1), {"mark": "the proxy died"})
    session = results.read_session(tmp_path / "out")
    assert [session.mark(r) for r in session.runs] == ["", "the proxy died"]


def test_results_are_never_overwritten_but_can_be_resumed(tmp_path):
    store = results.Store(tmp_path)
    store.open()
    store.add(run("nginx", "relay-ka-1k"), {})
    with pytest.raises(LabError, match="--resume"):
        results.Store(tmp_path).open()
    assert [r.proxy for r in results.Store(tmp_path).open(resume=True)] == ["nginx"]
