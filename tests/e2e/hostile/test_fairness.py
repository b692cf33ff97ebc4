"""One client, or one origin, that never pauses must not keep a worker to itself."""

import contextlib
import threading

import pytest

from harness.client import Client
from harness.origin import HttpOrigin, Origin, closed_port, ok
from harness.proxy import Proxy
from harness.timing import Stopwatch, limit

# What another client may have to wait meanwhile; with a worker that is kept it is for ever.
PATIENCE_SECONDS = 2


class Flood:
    """Reads whatever comes on a connection, and sends `text` again and again, if there is any."""

    def __init__(self, client, text=b""):
        self._client = client
        self.received_bytes = 0
        tasks = [self._read, *([lambda: self._send(text)] if text else [])]
        self._threads = [threading.Thread(target=task, daemon=True) for task in tasks]
        for thread in self._threads:
            thread.start()

    def _send(self, text):
        with contextlib.suppress(OSError):
            while True:
                self._client.socket.sendall(text)

    def _read(self):
        with contextlib.suppress(OSError):
            while data := self._client.socket.recv(1024 * 1024):
                self.received_bytes += len(data)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._client.reset()
        for thread in self._threads:
            thread.join(limit(2))


def _expect_service(proxy, origin, count=20):
    for _ in range(count):
        watch = Stopwatch()
        with Client(proxy.address, timeout=PATIENCE_SECONDS) as client:
            client.send(f"GET http://{origin.authority}/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            assert client.to_end().endswith(b"fine")
        assert watch.seconds < limit(PATIENCE_SECONDS)


@pytest.mark.parametrize("asked", (
    "OPTIONS http://127.0.0.1/ HTTP/1.1\r\nHost: a\r\nMax-Forwards: 0\r\n\r\n",
    f"GET http://127.0.0.1:{closed_port()}/ HTTP/1.1\r\nHost: a\r\n\r\n",
), ids=("answered here", "refused"))
def test_a_pipeline_that_never_pauses(asked):
    """Requests that are answered without waiting for anybody."""
    with HttpOrigin(lambda _: ok(b"fine")) as origin, Proxy("http", "--workers", "1", "--log-level", "error") as proxy:
        with Flood(Client(proxy.address), asked.encode() * 1000) as flood:
            _expect_service(proxy, origin)
            assert flood.received_bytes > 0


@pytest.mark.parametrize("client_reads", (True, False))
def test_interim_answers_that_never_pause(client_reads):
    def script(conn):
        conn.read_until(b"\r\n\r\n")
        while not conn.closed:
            conn.send(b"HTTP/1.1 102 \r\n\r\n" * 4000)

    with HttpOrigin(lambda _: ok(b"fine")) as origin, Origin(script) as hostile, \
            Proxy("http", "--workers", "1") as proxy:
        client = Client(proxy.address)
        asked = f"GET http://{hostile.authority}/ HTTP/1.1\r\nHost: a\r\n\r\n".encode()
        client.send(asked)
        with Flood(client) if client_reads else client:
            _expect_service(proxy, origin)
