"""Bulk both ways at once, under each front end and each way of moving bytes."""

import threading

import pytest

from harness.origin import Origin, payload, sha256
from harness.timing import limit
from harness.tunnels import FRONTS, SPLICE, front

DOWN = payload(20 << 20, 1)
UP = payload(20 << 20, 2)


def both_ways(conn):
    """Sends DOWN while it receives, then ends its side."""
    def send():
        conn.send(DOWN)
        conn.fin()
    sender = threading.Thread(target=send)
    sender.start()
    conn.drained = conn.drain()
    sender.join()


def exchange(client):
    """Sends UP while DOWN arrives; both ends are orderly."""
    def send():
        client.send(UP)
        client.fin()
    sender = threading.Thread(target=send)
    sender.start()
    got = client.hash_to_end()
    sender.join()
    assert got == (len(DOWN), sha256(DOWN))
    assert client.ended == "eof"


@pytest.mark.parametrize("splice", SPLICE)
@pytest.mark.parametrize("name", FRONTS)
def test_20_mib_each_way_at_once(name, splice):
    with Origin(both_ways) as origin, front(name, origin, "--splice", splice, access_log=True) as via:
        with via.proxy.keeps_base_fds(), via.open() as client:
            exchange(client)
            conn = origin.wait_connection()
            assert conn.done.wait(limit(5))
            assert conn.drained == (len(UP), sha256(UP))
            assert conn.ended == "eof"


@pytest.mark.parametrize("splice", SPLICE)
@pytest.mark.parametrize("name", ("relay", "connect"))
def test_8_tunnels_with_20_mib_each_way_at_once(name, splice):
    failures = []

    def run(via):
        try:
            with via.open() as client:
                exchange(client)
        except Exception as error:  # noqa: BLE001 -- shown below
            failures.append(error)

    with Origin(both_ways) as origin, front(name, origin, "--splice", splice) as via:
        with via.proxy.keeps_base_fds():
            threads = [threading.Thread(target=run, args=(via,)) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert not failures, failures
        for conn in origin.connections:
            assert conn.done.wait(limit(5))
            assert conn.drained == (len(UP), sha256(UP))


@pytest.mark.parametrize("splice", SPLICE)
def test_messages_of_every_size_around_the_limits_of_buffers_and_pipes(splice):
    """Ping-pong of sizes at and around every power of two from 1 B to 1 MiB, on one connection."""
    sizes = sorted({size + step for size in (1 << n for n in range(21)) for step in (-1, 0, 1)} - {0})

    def script(conn):
        for size in sizes:
            conn.send(conn.read_exactly(size))

    with Origin(script) as origin, front("relay", origin, "--splice", splice) as via, via.open() as client:
        for size in sizes:
            message = payload(size)
            client.send(message)
            assert client.exactly(size) == message, size
