"""The lab on this very machine: namespaces, control groups, and that all of it goes away however the lab ends.

Needs root. Client, origin and proxy are fakes, so that a run takes a moment and shows what a test wants.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import BENCH
from labkit import network, proc, results, session

HERE = Path(__file__).parent
TAG = f"t{os.getpid() % 100000}"
STARTED = []


@pytest.fixture(autouse=True)
def a_clean_machine():
    assert os.geteuid() == 0, "these tests make network namespaces and control groups: run them as root"
    assert leftovers() == []
    yield
    left = leftovers()
    for process in STARTED:     # only a failed test leaves one; the next shall not fail for it
        process.kill()
        process.wait()
    STARTED.clear()
    if left:
        time.sleep(0.2)
        subprocess.run([sys.executable, str(BENCH / "lab"), "clean", "--tag", TAG], capture_output=True)
    assert left == []


def leftovers():
    """Everything of this tag that is still there."""
    found = network.Network(TAG).leftovers()
    for root in ("cpuset", "cpu", "cpuacct", "memory", ""):
        if (Path("/sys/fs/cgroup") / root / TAG).exists():
            found.append(f"cgroup {root}")
    return found + (["scratch"] if (session.RUN_DIRECTORY / TAG / "scratch").exists() else [])


def command(tmp_path, *words, proxies=("fake",), scenario="relay-ka-1k", seconds="0.2", reps="1"):
    return [sys.executable, str(BENCH / "lab"), "run", "--tag", TAG, "--out", str(tmp_path / "out"),
            "--peers", str(HERE / "fakes/peers"), "--load", str(HERE / "fakes/load.py"), "--proxies", *proxies,
            "--scenarios", scenario, "--seconds", seconds, "--warmup", "0", "--reps", reps, "--tolerate", "100", *words]


def lab(tmp_path, *words, environment=None, **how):
    return subprocess.run(command(tmp_path, *words, **how), capture_output=True, text=True, timeout=120,
                          env={**os.environ, **(environment or {})})


def rows(tmp_path):
    return results.read_session(tmp_path / "out")


def until(condition, what, deadline_s=20.0):
    end = time.monotonic() + deadline_s
    while not condition():
        assert time.monotonic() < end, f"never: {what}"
        time.sleep(0.02)


def children_of_the_fake():
    """The processes of a run, by the namespace they are in."""
    return network.Network(TAG).pids()


def pids_in(namespace):
    done = subprocess.run(["ip", "netns", "pids", namespace], capture_output=True, text=True, check=True)
    return [int(pid) for pid in done.stdout.split()]


def start_a_long_run(tmp_path):
    """A lab in the middle of a run: client, origin, proxy and its child are there."""
    running = subprocess.Popen(command(tmp_path, seconds="120"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               env={**os.environ, "FAKE_SECONDS": "120"})
    STARTED.append(running)
    until(lambda: running.poll() is None and len(children_of_the_fake()) >= 4, "four processes in the namespaces")
    return running


def gone(pids):
    return not any(proc.alive(pid) for pid in pids)


def test_a_run_gives_a_row_its_details_and_leaves_nothing_behind(tmp_path):
    done = lab(tmp_path, reps="2")
    assert done.returncode == 0, done.stderr
    found = rows(tmp_path)
    assert [(r.proxy, r.scenario, r.rep, r.p99_ms) for r in found.runs] == \
        [("fake", "relay-ka-1k", 0, 3.0), ("fake", "relay-ka-1k", 1, 3.0)]
    assert found.runs[0].peak_mb > 1 and found.runs[0].prx_task_s >= 0
    assert found.provenance["machine"]["kernel"] == os.uname().release
    assert "left" in done.stderr


def test_a_proxy_that_dies_is_marked_and_shows_no_figures(tmp_path):
    assert lab(tmp_path, proxies=("fake:dies",)).returncode == 0
    found = rows(tmp_path)
    assert found.mark(found.runs[0]) == "the proxy died"
    assert found.runs[0].rate != found.runs[0].rate and found.runs[0].proxy == "fake-dies"


def test_a_proxy_that_does_not_start_is_a_row_that_says_why(tmp_path):
    assert lab(tmp_path, proxies=("fake:absent", "fake")).returncode == 0
    found = rows(tmp_path)
    marks = {r.proxy: found.mark(r) for r in found.runs}
    assert "no licence" in marks["fake-absent"] and marks["fake"] == ""


@pytest.mark.parametrize("result, mark", [
    ({"errors_by": {"wrong": 2}, "errors": 2}, "2 wrong answers"),
    ({"schedule_lag_p99_ms": 4.0}, "the client was late: 4 ms"),
    ({"errors": 500}, "500 of 1500 exchanges failed"),
])
def test_a_run_whose_figures_mean_nothing_is_marked(tmp_path, result, mark):
    assert lab(tmp_path, environment={"FAKE_RESULT": json.dumps(result)}).returncode == 0
    found = rows(tmp_path)
    assert found.mark(found.runs[0]).startswith(mark)
    text = subprocess.run([sys.executable, str(BENCH / "lab"), "report", str(tmp_path / "out")], capture_output=True,
                          text=True).stdout
    assert "| – † |" in text and f"1 of 1 left out (rep 0: {mark}" in text


def test_resume_measures_only_what_is_missing(tmp_path):
    assert lab(tmp_path, reps="1").returncode == 0
    assert "--resume" in lab(tmp_path, reps="2").stderr
    assert lab(tmp_path, "--resume", reps="3").returncode == 0
    assert [r.rep for r in rows(tmp_path).runs] == [0, 1, 2]


def test_ctrl_c_leaves_what_was_measured_and_nothing_else(tmp_path):
    # What a shell starts in the background ignores Ctrl-C, and so would the lab, if these tests were started there.
    running = subprocess.Popen(command(tmp_path, reps="1000"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    csv = tmp_path / "out/results.csv"
    until(lambda: csv.exists() and len(csv.read_text().splitlines()) > 2, "two rows")
    running.send_signal(signal.SIGINT)
    assert running.wait(timeout=30) == 130
    assert len(rows(tmp_path).runs) >= 2


def test_after_kill_9_of_the_lab_its_guard_cleans_up(tmp_path):
    running = start_a_long_run(tmp_path)
    inside = children_of_the_fake()
    running.kill()
    running.wait()
    until(lambda: leftovers() == [], "the guard cleaned up")
    assert gone(inside)


def test_after_kill_9_of_lab_and_guard_lab_clean_does(tmp_path):
    running = start_a_long_run(tmp_path)
    inside = children_of_the_fake()
    guards = [pid for pid in proc.descendants([running.pid]) if pid != running.pid and same_program(pid, running.pid)]
    assert len(guards) == 1
    for pid in (*guards, running.pid):
        os.kill(pid, signal.SIGKILL)
    running.wait()
    assert leftovers() and not gone(inside)
    done = subprocess.run([sys.executable, str(BENCH / "lab"), "clean", "--tag", TAG], capture_output=True, text=True)
    assert done.returncode == 0 and f"namespace {TAG}-prx" in done.stdout, done.stderr
    assert leftovers() == [] and gone(inside)


def same_program(a, b):
    """The guard is a fork of the lab that executes nothing else."""
    return Path(f"/proc/{a}/cmdline").read_bytes() == Path(f"/proc/{b}/cmdline").read_bytes()


def test_only_one_lab_runs_at_a_time(tmp_path):
    running = start_a_long_run(tmp_path)
    second = subprocess.run(command(tmp_path / "other"), capture_output=True, text=True)
    clean = subprocess.run([sys.executable, str(BENCH / "lab"), "clean", "--tag", TAG], capture_output=True, text=True)
    running.send_signal(signal.SIGTERM)
    assert running.wait(timeout=30) == 130
    for refused in (second, clean):
        assert refused.returncode == 1 and f"process {running.pid}" in refused.stderr


def test_sysctls_of_the_machine_are_put_back(tmp_path):
    key = "net/core/netdev_max_backlog"
    before = network.read_sysctl(key)
    running = start_a_long_run(tmp_path)
    during = network.read_sysctl(key)
    running.kill()
    running.wait()
    until(lambda: leftovers() == [], "the guard cleaned up")
    assert int(during) >= network.MACHINE_SYSCTLS[key]
    assert network.read_sysctl(key) == before


def test_each_side_stays_on_its_cpus_and_receives_on_them(tmp_path):
    if len(os.sched_getaffinity(0)) < 2:
        pytest.fail("two CPUs are needed to see a difference")
    running = start_a_long_run(tmp_path)
    try:
        # By namespace, not by control group: not every machine has those.
        seen = {role: {frozenset(os.sched_getaffinity(pid)) for pid in pids_in(f"{TAG}-{role}")}
                for role in ("cli", "prx")}
        masks = {role: network.in_namespace(f"{TAG}-{role}", "sh", "-c", "cat /sys/class/net/[cs]*/queues/rx-*/rps_cpus")
                 for role in ("cli", "prx", "srv")}
    finally:
        running.send_signal(signal.SIGTERM)
        running.wait(timeout=30)
    assert seen["cli"].isdisjoint(seen["prx"]) and all(seen.values())
    assert all(int(word.replace(",", ""), 16) for word in " ".join(masks.values()).split())
    assert masks["cli"] != masks["prx"]
