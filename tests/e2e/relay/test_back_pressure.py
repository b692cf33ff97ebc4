"""A side that does not read costs nothing but its own session."""

import threading
import time

import pytest

from harness.client import Client
from harness.origin import HttpOrigin, Origin, echo, ok, payload, sha256, source
from harness.proxy import Proxy
from harness.timing import limit, wait_until
from harness.tunnels import MAIN_FRONTS, SPLICE, front

MIB = 1 << 20


def _watch_slow_reader(proxy, client, read_seconds=5):
    """One byte per second, for some seconds; the proxy must be at rest meanwhile."""
    done = threading.Event()

    def read():
        while not done.wait(1):
            client.exactly(1)
    reader = threading.Thread(target=read)
    reader.start()
    try:
        proxy.assert_cpu_quiet(read_seconds)
    finally:
        done.set()
        reader.join()


@pytest.mark.parametrize("splice", SPLICE)
def test_B011_very_slow_reader_of_a_tunnel(splice):
    """A client that takes a byte now and then. No minimum rate is set: nothing else suffers, CPU stays quiet."""
    def script(conn):
        (echo if conn.index else source(10 * MIB))(conn)

    with Origin(script) as origin, front("connect", origin, "--splice", splice) as via:
        with via.open(receive_buffer=4096) as slow:
            slow.exactly(1)
            before_kib = via.proxy.rss_kib()
            _watch_slow_reader(via.proxy, slow)
            assert via.proxy.rss_kib() - before_kib < 1024
            with via.open() as other:
                other.send(b"quick")
                assert other.exactly(5) == b"quick"


def test_B011_very_slow_reader_of_an_http_answer():
    """The same for a forward request: the answer is not piled up in the proxy."""
    def answer(request):
        return ok(payload(10 * MIB) if request.target == "/big" else b"small")

    with HttpOrigin(answer) as origin, Proxy("http") as proxy:
        with Client(proxy.address, receive_buffer=4096) as slow, Client(proxy.address) as other:
            slow.send(f"GET http://{origin.authority}/big HTTP/1.1\r\nHost: {origin.authority}\r\n\r\n")
            slow.exactly(1)
            before_kib = proxy.rss_kib()
            _watch_slow_reader(proxy, slow)
            assert proxy.rss_kib() - before_kib < 1024
            other.send(f"GET http://{origin.authority}/ HTTP/1.1\r\nHost: {origin.authority}\r\n\r\n")
            assert other.response().body == b"small"


@pytest.mark.parametrize("splice", SPLICE)
@pytest.mark.parametrize("name", MAIN_FRONTS)
def test_a_sender_is_stopped_by_a_reader_that_stalls_and_loses_nothing(name, splice):
    """40 MiB towards a client that reads nothing: the origin is held up; then all arrives in order."""
    piece, pieces = payload(MIB), 40
    sent = []

    def script(conn):
        for _ in range(pieces):
            conn.send(piece)
            sent.append(1)

    with Origin(script) as origin, front(name, origin, "--splice", splice) as via, via.open() as client:
        before_kib = via.proxy.rss_kib()
        origin.wait_connection()
        _wait_stable(lambda: len(sent))
        assert len(sent) < pieces, "the origin was not held up"
        assert via.proxy.rss_kib() - before_kib < 2048
        assert client.hash_to_end() == (pieces * MIB, sha256(piece * pieces))


def _wait_stable(value, still_seconds=0.5):
    """Waits until `value()` has not changed for a while."""
    state = {"last": value(), "since": time.monotonic()}

    def stable():
        now = value()
        if now != state["last"]:
            state.update(last=now, since=time.monotonic())
        return time.monotonic() - state["since"] > limit(still_seconds)
    wait_until(stable, 10, lambda: f"still moves: {state['last']}")


@pytest.mark.parametrize("splice", SPLICE)
def test_the_other_direction_flows_while_one_is_stalled(splice):
    def script(conn):
        threading.Thread(target=conn.send, args=(payload(20 * MIB),), daemon=True).start()
        conn.drained = conn.drain()

    with Origin(script) as origin, front("relay", origin, "--splice", splice) as via, via.open() as client:
        upload = payload(20 * MIB, 1)
        client.send(upload)  # would hang if one direction held up the other
        assert client.hash_exactly(20 * MIB) == sha256(payload(20 * MIB))
        client.fin()
        conn = origin.wait_connection()
        assert conn.done.wait(limit(5))
        assert conn.drained == (len(upload), sha256(upload))
