"""The faults that moving bytes through pipes invites. Every test also runs with copying: the bytes are
the same, however they move."""

import contextlib
import signal
import socket
import threading
import time

import pytest

from harness.client import Client
from harness.origin import HttpOrigin, Origin, ok, payload, sha256
from harness.proxy import Proxy
from harness.timing import Stopwatch, limit
from harness.tunnels import FRONTS, MAIN_FRONTS, SPLICE, front

MIB = 1 << 20


def _send_rounds(rounds):
    """Sends 200 000 bytes, then waits for one byte that comes only after all of them were read."""
    def script(conn):
        for number in range(rounds):
            conn.send(payload(200_000, number % 4))
            conn.read_exactly(1)
    return script


def _read_rounds(client, rounds):
    for number in range(rounds):
        watch = Stopwatch()
        assert client.hash_exactly(200_000) == sha256(payload(200_000, number % 4))
        client.send(b"n")
        assert watch.seconds < limit(1), f"round {number} took {watch.seconds:.2f} s"


@pytest.mark.parametrize("splice", SPLICE)
@pytest.mark.parametrize("name", ("relay", "connect"))
def test_B016_short_write_leaves_bytes_in_the_pipe(name, splice):
    """The second splice used the count of the first: bytes of an earlier short write stayed in the pipe
    while the proxy waited for more input."""
    with Origin(_send_rounds(200)) as origin, front(name, origin, "--splice", splice) as via:
        with via.open(receive_buffer=4096) as client:
            _read_rounds(client, 200)


@pytest.mark.parametrize("splice", SPLICE)
def test_B016_short_writes_on_new_tunnels(splice):
    """The same where each round is a tunnel of its own."""
    with Origin(_send_rounds(1)) as origin, front("relay", origin, "--splice", splice) as via:
        with via.proxy.keeps_base_fds():
            for _ in range(200):
                with via.open(receive_buffer=4096) as client:
                    _read_rounds(client, 1)


SIZES = (1, 4095, 4096, 65535, 65536, 65537, 70001)


def _send_size_and_fin(conn):
    """The client names a size; so many bytes and the FIN go out as one, held back by TCP_CORK."""
    size = int(conn.read_until(b"\n"))
    conn.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
    conn.send(payload(size))
    conn.fin()
    conn.read_to_end()


@pytest.mark.parametrize("splice", SPLICE)
@pytest.mark.parametrize("name", ("relay", "socks5"))
def test_B018_last_data_and_fin_together(name, splice):
    """EOF seen while data went into the pipe was never handled: the session froze until its timeout."""
    with Origin(_send_size_and_fin) as origin, front(name, origin, "--splice", splice) as via:
        slow = []
        with via.proxy.keeps_base_fds():
            for number in range(350):
                size = SIZES[number % len(SIZES)]
                with via.open() as client:
                    watch = Stopwatch()
                    client.send(b"%d\n" % size)
                    assert client.hash_to_end() == (size, sha256(payload(size)))
                    assert client.ended == "eof"
                    if watch.seconds > limit(0.1):
                        slow.append((size, watch.seconds))
        # A frozen session waits for minutes; one late turn of a busy machine is none.
        assert len(slow) < 4 and all(seconds < limit(0.5) for _, seconds in slow), slow


@pytest.mark.parametrize("splice", SPLICE)
@pytest.mark.parametrize("size", SIZES)
def test_B018_data_and_fin_queued_before_the_proxy_reads(size, splice):
    """The same, certain: the proxy is stopped while the origin sends, so that both wait for it."""
    with Origin(_send_size_and_fin) as origin, front("relay", origin, "--splice", splice) as via:
        with contextlib.ExitStack() as stack:
            clients = [stack.enter_context(via.open()) for _ in range(20)]
            asked = b"%d\n" % size
            for client in clients:
                client.send(asked[:-1])  # not its end, so that the origin's script waits
            for index in range(len(clients)):
                origin.wait_connection(index).wait_received(len(asked) - 1)
            via.proxy.signal(signal.SIGSTOP)
            try:
                for conn in origin.connections:
                    conn.send(payload(size))
                    conn.fin()
            finally:
                watch = Stopwatch()
                via.proxy.signal(signal.SIGCONT)
            for client in clients:
                assert client.hash_to_end() == (size, sha256(payload(size)))
                assert client.ended == "eof"
            assert watch.seconds < limit(1)


@pytest.mark.parametrize("splice", SPLICE)
@pytest.mark.parametrize("status", ("200 OK", "204 No Content", "304 Not Modified"))
def test_B021_body_where_none_may_be(status, splice):
    """With splicing on, the body that a faulty origin sent for HEAD, 204 or 304 reached the client."""
    surplus = b"S" * 100_000

    def answer(request):
        if request.target == "/faulty":
            return b"HTTP/1.1 %s\r\nContent-Length: 100000\r\n\r\n" % status.encode() + surplus
        return ok(b"own answer")

    method = "HEAD" if status.startswith("200") else "GET"
    with HttpOrigin(answer) as origin, Proxy("http", "--splice", splice, "--workers", "1") as proxy:
        for gap in (0, 0.3):  # the next request meets the surplus, or comes when it was seen
            with Client(proxy.address) as client:
                client.send(f"{method} http://{origin.authority}/faulty HTTP/1.1\r\nHost: {origin.authority}\r\n\r\n")
                response = client.response(to=method)
                assert response.status == int(status[:3]) and response.framing == "none"
                time.sleep(gap)
                client.send(f"GET http://{origin.authority}/ HTTP/1.1\r\nHost: {origin.authority}\r\n\r\n")
                assert client.response().body == b"own answer"
        last = {request.on_connection: request.target for request in origin.requests}
        assert list(last.values()).count("/faulty") == 2, "a connection with surplus bytes was used again"


@pytest.mark.parametrize("splice", SPLICE)
@pytest.mark.parametrize("name", [name for name in FRONTS if name != "relay"])
def test_B025_user_space_rest_before_spliced_bytes(name, splice):
    """Bytes read together with the handshake stayed in the parser's buffer when the relay began."""
    early, rest = payload(100_000), payload(10 * MIB)

    def script(conn):
        conn.drained = conn.drain()

    with Origin(script) as origin, front(name, origin, "--splice", splice) as via:
        with via.open(early=early) as client:
            client.send(rest)
            client.fin()
            client.expect_end(how="eof", seconds=5)
            conn = origin.wait_connection()
            assert conn.done.wait(limit(2))
            assert conn.drained == (len(early) + len(rest), sha256(early + rest))


@pytest.mark.parametrize("name", MAIN_FRONTS)
def test_B025_early_bytes_cut_at_every_length(name):
    """A few early bytes with and without more behind them: none is lost, none comes twice."""
    with Origin(lambda conn: conn.read_to_end()) as origin, front(name, origin) as via:
        for index, count in enumerate([*range(0, 12), 255, 256, 4095, 4096, 4097, 16383, 16384, 16385, 65536]):
            early = payload(count)
            with via.open(early=early) as client:
                client.send(b"|rest")
                client.fin()
                client.expect_end(how="eof")
            conn = origin.wait_connection(index)
            conn.wait_ended()
            assert bytes(conn.received) == early + b"|rest"


@pytest.mark.parametrize("splice", SPLICE)
def test_bulk_in_bursts_changes_between_copy_and_splice_without_loss(splice):
    """Small messages and bulk by turns, both ways at once, so that each direction changes its state often."""
    sizes = [40, MIB, 1, 300_000, 16384, 16384, 16384, 7, 5, 3, 2 * MIB, 100] * 4

    def speak(send, seed):
        for number, size in enumerate(sizes):
            send(payload(size, seed))
            if number % 3 == 2:
                time.sleep(0.01)

    def listen(read_hash, seed):
        for number, size in enumerate(sizes):
            assert read_hash(size) == sha256(payload(size, seed)), f"message {number} of {size} bytes"

    def script(conn):
        speaker = threading.Thread(target=speak, args=(conn.send, 1))
        speaker.start()
        listen(lambda size: sha256(conn.read_exactly(size)), 2)
        speaker.join()
        conn.heard_all = True

    with Origin(script) as origin, front("relay", origin, "--splice", splice) as via, via.open() as client:
        speaker = threading.Thread(target=speak, args=(client.send, 2))
        speaker.start()
        listen(client.hash_exactly, 1)
        speaker.join()
        client.fin()
        conn = origin.wait_connection()
        assert conn.done.wait(limit(5)) and conn.error is None and conn.heard_all


def test_always_and_never_are_what_they_say():
    """Pipes exist during bulk under `always`, and never under `never`."""
    for splice, wanted in (("always", True), ("never", False)):
        def script(conn):
            with contextlib.suppress(OSError):
                while True:
                    conn.send(payload(MIB))
        with Origin(script) as origin, front("relay", origin, "--splice", splice) as via:
            before = via.proxy.fd_kinds()["pipe"]
            most = 0
            with via.open() as client:
                for _ in range(50):
                    client.hash_exactly(MIB)
                    most = max(most, via.proxy.fd_kinds()["pipe"])
            assert (most > before) is wanted, f"--splice {splice}: {before} pipe ends at rest, {most} during bulk"


def test_an_idle_tunnel_holds_no_pipe():
    """After bulk, 200 idle tunnels own no pipes: the pool keeps a few per worker."""
    def script(conn):
        conn.send(payload(300_000))
        conn.read_to_end()
    with Origin(script) as origin, front("relay", origin, "--splice", "always") as via:
        with via.proxy.keeps_base_fds(), contextlib.ExitStack() as stack:
            base = via.proxy.fd_kinds()
            clients = [stack.enter_context(via.open()) for _ in range(200)]
            for client in clients:
                client.hash_exactly(300_000)
            kinds = via.proxy.fd_kinds()
            assert kinds["socket"] == base["socket"] + 400
            assert kinds["pipe"] <= base["pipe"] + 8 * via.proxy.workers
