"""Resets: passed on as resets, and nothing is left behind."""

import threading

import pytest

from harness.client import Client, wait_no_sockets
from harness.origin import Origin, payload
from harness.proxy import Proxy
from harness.timing import limit
from harness.tunnels import FRONTS, MAIN_FRONTS, front

MIB = 1 << 20
PIECE = payload(256 * 1024)


def stream_without_end(conn):
    """Sends until the other side is gone, and records how it went."""
    try:
        while True:
            conn.send(PIECE)
    except ConnectionResetError:
        conn._end("reset")
    except BrokenPipeError:
        conn._end("eof")


def _abort_after(via, count):
    with via.open() as client:
        client.hash_exactly(count)
        client.reset()


@pytest.mark.parametrize("splice", ("never", "always"))
@pytest.mark.parametrize("name", ("relay", "connect", "socks5"))
def test_B005_client_reset_during_transfer(name, splice):
    """After clients aborted, sockets towards the origin stayed in CLOSE_WAIT for ever.

    Through a parent proxy: with the issue that brings parents.
    """
    rounds, parallel = 100, 20
    failures = []

    def worker(via):
        try:
            for _ in range(rounds // parallel):
                _abort_after(via, 10 * MIB)
        except Exception as error:  # noqa: BLE001 -- shown below
            failures.append(error)

    with Origin(stream_without_end) as origin, front(name, origin, "--splice", splice) as via:
        with via.proxy.keeps_base_fds():
            threads = [threading.Thread(target=worker, args=(via,)) for _ in range(parallel)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert not failures, failures
            assert len(origin.connections) == rounds
            for conn in origin.connections:
                conn.wait_ended(1)
        wait_no_sockets(origin.port)


def test_B005_client_reset_during_an_http_answer():
    """The same for a forward request: the origin sees the end within a second."""
    def script(conn):
        conn.read_until(b"\r\n\r\n")
        conn.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n")
        stream_without_end(conn)

    with Origin(script) as origin, Proxy("http") as proxy, proxy.keeps_base_fds():
        for index in range(20):
            with Client(proxy.address) as client:
                client.send(f"GET http://{origin.authority}/ HTTP/1.1\r\nHost: {origin.authority}\r\n\r\n")
                client.read_until("\r\n\r\n")
                client.hash_exactly(MIB)
                client.reset()
            origin.wait_connection(index).wait_ended(1)


@pytest.mark.parametrize("splice", ("never", "always"))
@pytest.mark.parametrize("name", FRONTS)
def test_a_clients_reset_reaches_the_origin_as_reset(name, splice):
    with Origin(lambda conn: conn.read_to_end()) as origin, front(name, origin, "--splice", splice) as via:
        with via.open() as client:
            client.send(b"hello")
            conn = origin.wait_connection()
            conn.wait_received(5)
            client.reset()
        assert conn.wait_ended() == "reset"


@pytest.mark.parametrize("splice", ("never", "always"))
@pytest.mark.parametrize("name", FRONTS)
def test_an_origins_reset_reaches_the_client_as_reset(name, splice):
    def script(conn):
        conn.send(b"hello")
        conn.read_until(b"go")
        conn.reset()

    with Origin(script) as origin, front(name, origin, "--splice", splice) as via, via.open() as client:
        assert client.exactly(5) == b"hello"
        client.send(b"go")
        client.expect_end(how="reset")


@pytest.mark.parametrize("splice", ("never", "always"))
@pytest.mark.parametrize("name", MAIN_FRONTS)
def test_a_transfer_cut_by_reset_never_ends_cleanly(name, splice):
    """A client that takes a FIN for the end of a file must not get one here."""
    def script(conn):
        conn.read_until(b"go")
        conn.send(payload(3 * MIB))
        conn.reset()

    with Origin(script) as origin, front(name, origin, "--splice", splice) as via:
        for _ in range(10):
            with via.open() as client:
                client.send(b"go")
                client.to_end()
                assert client.ended == "reset"


@pytest.mark.parametrize("name", MAIN_FRONTS)
def test_reset_after_the_clients_half_close(name):
    """A client that ended its side and then resets is noticed although nothing more is read from it."""
    with Origin(lambda conn: (conn.read_to_end(), stream_without_end(conn))) as origin, front(name, origin) as via:
        with via.proxy.keeps_base_fds():
            with via.open() as client:
                client.fin()
                conn = origin.wait_connection()
                conn.wait_ended()
                client.hash_exactly(MIB)
                client.reset()
            assert conn.done.wait(limit(2)), "the origin still sends"


def test_resets_during_set_up_leave_nothing():
    """Clients that reset in the middle of a request, of each protocol."""
    beginnings = {
        "http": (b"", b"CONNE", b"CONNECT o.example.test:443 HTTP/1.1\r\nHost: o", b"GET http://"),
        "socks": (b"", b"\x05", b"\x05\x01", b"\x05\x01\x00\x05\x01\x00\x03\x09abc", b"\x04\x01\x00"),
        "mixed": (b"", b"\x05\x02\x00", b"\x04", b"POST "),
    }
    for command, starts in beginnings.items():
        with Proxy(command) as proxy, proxy.keeps_base_fds():
            for start in starts * 20:
                with Client(proxy.address) as client:
                    client.send(start)
                    client.reset()
