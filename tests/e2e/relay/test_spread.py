"""Connections are spread evenly over the workers, also when they are few and long."""

import pytest

from harness.origin import Origin, echo
from harness.timing import wait_until
from harness.tunnels import ask, front


@pytest.mark.parametrize("name", ("relay", "connect", "socks5"))
def test_16_long_streams_over_2_workers_are_8_and_8(name):
    with Origin(echo) as origin, front(name, origin, "--workers", "2", access_log=True) as via:
        assert via.proxy.workers == 2
        clients = [via.open() for _ in range(16)]
        try:
            for client in clients:
                client.send(b"x")
                assert client.exactly(1) == b"x"

            def shares():
                return sorted(len(loop) for loop in via.proxy.upstream_ports_by_loop(origin.port))
            wait_until(lambda: sum(shares()) >= 16, 2, lambda: f"16 upstream sockets watched: {shares()}")
            assert [share for share in shares() if share] == [8, 8]
        finally:
            for client in clients:
                client.close()
        workers = [line["worker"] for line in via.proxy.wait_access_lines(16)]
        assert sorted(map(workers.count, set(workers))) == [8, 8]


def test_streams_that_start_at_the_same_moment_are_spread_too():
    """64 clients connect in one burst, before any of them asks for anything."""
    with Origin(echo) as origin, front("connect", origin, "--workers", "2") as via:
        clients = [via.connect() for _ in range(64)]
        try:
            for client in clients:
                ask(client, "connect", *origin.address)
            shares = sorted(len(loop) for loop in via.proxy.upstream_ports_by_loop(origin.port))
            assert sum(shares) == 64 and max(shares) - min(share for share in shares if share) <= 2
        finally:
            for client in clients:
                client.close()


def test_workers_option_sets_the_number_of_threads_that_serve():
    for count in (1, 2, 4):
        with Origin(echo) as origin, front("relay", origin, "--workers", count) as via:
            assert via.proxy.workers == count
            with via.open() as client:
                client.send(b"x")
                assert client.exactly(1) == b"x"
