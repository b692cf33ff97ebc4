"""Limits on time: which clock runs when, and how a session ends by it."""

import select
import time

import pytest

from harness.client import Client
from harness.origin import BlackHole, HttpOrigin, Origin, echo, ok
from harness.proxy import Proxy
from harness.timing import Stopwatch, limit
from harness.tunnels import FRONTS, MAIN_FRONTS, front


@pytest.mark.parametrize("splice", ("never", "always"))
@pytest.mark.parametrize("name", FRONTS)
def test_B007_no_stray_bytes_on_idle_timeout(name, splice):
    """When an established tunnel idled out, a SOCKS error reply was written into its stream."""
    with Origin(echo) as origin, front(name, origin, "--splice", splice, "--set", "idle_timeout=1s") as via:
        with via.proxy.keeps_base_fds(), via.open() as client:
            client.send(b"0123456789")
            assert client.exactly(10) == b"0123456789"
            watch = Stopwatch()
            client.expect_end(seconds=3)
            assert 0.8 < watch.seconds < limit(2.5)
            conn = origin.wait_connection()
            conn.wait_ended()
            assert conn.received_bytes == 10


@pytest.mark.parametrize("name", MAIN_FRONTS)
def test_idle_means_both_directions_silent(name):
    """A one-way stream is not idle, whichever way it flows."""
    def ticks(conn):
        for _ in range(8):
            conn.send(b"t")
            time.sleep(0.3)

    with Origin(ticks) as origin, front(name, origin, "--set", "idle_timeout=1s") as via, via.open() as client:
        assert client.to_end() == b"t" * 8
    with Origin(lambda conn: conn.read_to_end()) as origin:
        with front(name, origin, "--set", "idle_timeout=1s") as via, via.open() as client:
            client.segments([b"t"] * 8, gap=0.3)
            client.fin()
            client.expect_end(how="eof")
            assert origin.connections[0].ended == "eof"
            assert bytes(origin.connections[0].received) == b"t" * 8


@pytest.mark.parametrize("name", MAIN_FRONTS)
def test_B009_set_up_timers_end_with_the_set_up(name):
    """The connect or handshake deadline kept running after the tunnel was up and killed long transfers."""
    limits = ("connect_timeout=1s", "setup_timeout=1s", "answer_timeout=1s", "idle_timeout=30s")
    options = [word for each in limits for word in ("--set", each)]

    def trickle(conn):
        for _ in range(10):
            conn.send(b"x" * 512)
            time.sleep(0.5)

    with Origin(trickle) as origin, front(name, origin, *options) as via, via.open() as client:
        assert client.to_end() == b"x" * 5120
        assert client.ended == "eof"


@pytest.mark.parametrize("name", MAIN_FRONTS)
def test_B009_connect_to_a_black_hole_fails_at_its_limit(name):
    """A target that swallows SYNs gets 504, or SOCKS reply 04 or 06, at about connect_timeout."""
    with BlackHole() as hole, front(name, hole.address, "--set", "connect_timeout=1s") as via:
        with via.proxy.keeps_base_fds():
            watch = Stopwatch()
            via.expect_refusal(connect=(504,), socks5=(4, 6), seconds=3)
            assert 0.8 < watch.seconds < limit(2)


@pytest.mark.parametrize("start", (b"", b"\x05", b"\x05\x01\x00", b"\x04\x01", b"GET http://o.example.test/ HT",
                                   b"CONNECT o.example.test:443 HTTP/1.1\r\nHost:"))
def test_setup_timeout_ends_a_client_that_does_not_finish_asking(start):
    """Also byte by byte: the limit is on all of set-up, not on the gap between two reads."""
    with Proxy("mixed", "--set", "setup_timeout=1s") as proxy, proxy.keeps_base_fds():
        with Client(proxy.address) as client:
            watch = Stopwatch()
            client.send(start)
            client.socket.settimeout(limit(3))
            client.to_end()
            assert 0.8 < watch.seconds < limit(2)


def test_setup_timeout_is_not_renewed_by_each_byte():
    with Proxy("mixed", "--set", "setup_timeout=1s") as proxy, Client(proxy.address) as client:
        watch = Stopwatch()
        for byte in b"GET http://o.example.test/" + b"a" * 200:
            client.send(bytes([byte]))
            if select.select([client.socket], [], [], 0.1)[0]:
                break
        assert 0.8 < watch.seconds < limit(2.5)
        assert client.response().status == 408


def test_http_keep_alive_idles_out():
    with HttpOrigin(lambda request: ok(b"x")) as origin:
        with Proxy("http", "--set", "keepalive_timeout=1s") as proxy, Client(proxy.address) as client:
            client.send(f"GET http://{origin.authority}/ HTTP/1.1\r\nHost: {origin.authority}\r\n\r\n")
            assert client.response().body == b"x"
            watch = Stopwatch()
            client.expect_end(seconds=3)
            assert 0.8 < watch.seconds < limit(2)
