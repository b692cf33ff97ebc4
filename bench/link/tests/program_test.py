"""headrace-link as a program: real packets between two network namespaces. Delay and rate within
5 %, loss within statistics."""

import contextlib
import json
import math
import os
import pathlib
import signal
import subprocess
import sys

import pytest

PROGRAM = os.environ["HEADRACE_LINK"]
DATAGRAMS = str(pathlib.Path(__file__).with_name("datagrams.py"))
LEFT, RIGHT = "10.213.7.1", "10.213.7.2"
PACKET = 1500
DEVICE_QUEUE = 10000


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True)


@pytest.fixture(scope="module")
def namespaces():
    names = [f"hr-link-{os.getpid()}-{side}" for side in ("l", "r")]
    try:
        for name in names:
            ip("netns", "add", name)
            # Or the kernel's own IPv6 packets would be among those that are counted.
            ip("netns", "exec", name, "sh", "-c",
               "echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6")
    except (OSError, subprocess.CalledProcessError) as fault:
        pytest.skip(f"network namespaces cannot be made here: {fault}")
    yield names
    for name in names:
        ip("netns", "del", name)


def first_in_line():
    """Before exec: what is measured is the link, not who else wants this machine's CPUs."""
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))


class Link:
    def __init__(self, namespaces, *options):
        left, right = namespaces
        self.namespaces = namespaces
        self.started = []
        self.process = subprocess.Popen(
            [PROGRAM, "--a", f"{left}:link0:{LEFT}/24", "--b", f"{right}:link0:{RIGHT}/24",
             *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            preexec_fn=first_in_line)
        assert self.process.stderr.readline() == "ready\n"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in [self.process, *self.started]:
            if process.poll() is None:
                process.kill()
                process.communicate()

    def start(self, side, *words):
        process = subprocess.Popen(
            ["ip", "netns", "exec", self.namespaces[side], *map(str, words)],
            stdout=subprocess.PIPE, text=True, preexec_fn=first_in_line)
        self.started.append(process)
        return process

    def send(self, count, flows=1, size=PACKET):
        """From left to right, all at once and not more than a device holds, so that a machine that
        lets us wait changes nothing. What arrived of each flow: count, first, last time, bytes."""
        assert count * flows < DEVICE_QUEUE
        receiver = self.start(1, sys.executable, DATAGRAMS, "receive", RIGHT, 7000, flows, 1)
        assert receiver.stdout.readline() == "ready\n"
        senders = [self.start(0, sys.executable, DATAGRAMS, "send", RIGHT, 7000 + flow, count,
                              size) for flow in range(flows)]
        for sender in senders:
            assert sender.wait(60) == 0
        out, _ = receiver.communicate(timeout=60)
        return json.loads(out)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        out, _ = self.process.communicate(timeout=10)
        assert self.process.returncode == 0
        return json.loads(out)


def bits_per_second(arrived):
    """Between the first and the last packet: all bits but the first packet's came in that time."""
    count, first, last, size = arrived
    return 8 * size * (count - 1) / count / (last - first)


def round_trips_ms(link, count):
    echo = link.start(1, sys.executable, DATAGRAMS, "echo", RIGHT, 7000)
    assert echo.stdout.readline() == "ready\n"
    out, _ = link.start(0, sys.executable, DATAGRAMS, "ask", RIGHT, 7000, count).communicate(
        timeout=60)
    return sorted(json.loads(out))


def test_delay_is_within_5_percent_each_way(namespaces):
    with Link(namespaces, "--a-to-b", "delay 30ms", "--b-to-a", "delay 10ms") as link:
        times = round_trips_ms(link, 50)
    assert times[0] >= 40
    # Of the faster half: how late a busy machine wakes the three processes is not the link's delay.
    assert times[12] == pytest.approx(40, rel=0.05)


def test_a_link_without_words_costs_little_time(namespaces):
    with Link(namespaces) as link:
        times = round_trips_ms(link, 50)
    assert times[12] < 2


def test_rate_is_within_5_percent(namespaces):
    with Link(namespaces, "--link", "rate 20mbit limit 5000") as link:
        (arrived,) = link.send(3000)
        counts = link.stop()["a_to_b"]
    assert arrived[0] == counts["packets_in"] == counts["packets_out"] == 3000
    assert bits_per_second(arrived) == pytest.approx(20e6, rel=0.05)


def test_a_full_queue_drops_the_rest(namespaces):
    with Link(namespaces, "--link", "rate 20mbit limit 100") as link:
        (arrived,) = link.send(3000)
        counts = link.stop()["a_to_b"]
    assert arrived[0] == counts["packets_out"] == 3000 - counts["dropped"]
    assert counts["dropped"] > 0 and counts["lost"] == counts["device_dropped"] == 0


def test_each_flow_has_its_rate_within_5_percent(namespaces):
    with Link(namespaces, "--link", "delay 5ms", "--flow-rate", "5mbit", "--flow-limit",
              "5000") as link:
        flows = link.send(900, flows=3)
        counts = link.stop()["a_to_b"]
    assert counts["flow_dropped"] == counts["dropped"] == 0
    for arrived in flows:
        assert arrived[0] == 900
        assert bits_per_second(arrived) == pytest.approx(5e6, rel=0.05)


@pytest.mark.parametrize("percent", [0.5, 5])
def test_loss_is_within_statistics_and_nothing_else_is_lost(namespaces, percent):
    count = 9000
    with Link(namespaces, "--link", f"delay 2ms loss {percent}% limit 20000") as link:
        (arrived,) = link.send(count, size=200)
        counts = link.stop()["a_to_b"]
    share = percent / 100
    assert counts["lost"] == pytest.approx(
        count * share, abs=5 * math.sqrt(count * share * (1 - share)))
    assert arrived[0] == count - counts["lost"]
    assert counts["dropped"] == counts["device_dropped"] == counts["write_failures"] == 0


def test_devices_are_gone_when_the_program_is_killed(namespaces):
    with Link(namespaces) as link:
        link.process.kill()
        link.process.wait(10)
    with Link(namespaces) as again:
        assert again.stop()["a_to_b"]["write_failures"] == 0


@pytest.mark.parametrize("words, status", [
    ([], 2),
    (["--a", "l:x:10.0.0.1/24"], 2),
    (["--a", "l:x:10.0.0.1/24", "--b", "r:x:10.0.0.2/24", "--link", "reorder 5%"], 2),
    (["--a", "no-such-ns:x:10.0.0.1/24", "--b", "no-such-ns:x:10.0.0.2/24"], 1),
])
def test_what_cannot_be_made_is_told(words, status):
    ran = subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=10)
    assert ran.returncode == status and ran.stderr.startswith("headrace-link: ")
