"""max_connections: a limit that holds, and whose count falls on every way out.

B158 (rate limits) and the parts of B156 about users, reloads and TLS come with the issues that bring
those.
"""

import contextlib
import random
import threading

import pytest

from harness import client as clients
from harness.client import Client
from harness.origin import Origin, closed_port, echo
from harness.timing import limit, wait_until
from harness.tunnels import front

LIMIT = 100


def _works(client):
    client.send(b"x")
    return client.exactly(1) == b"x"


def _expect_full(via):
    """One more client is not served: an error answer of its protocol, or just an end; never a hang."""
    with via.connect() as client:
        client.socket.settimeout(limit(2))
        with contextlib.suppress(ConnectionError):
            if via.how == "connect":
                client.send(clients.connect_head(via.host, via.port))
            elif via.how == "socks5":
                client.send(b"\x05\x01\x00")
        answer = client.to_end()
        assert not answer or answer.startswith((b"HTTP/1.1 503", b"\x05\xff", b"\x05\x00\x05\x01")), answer


def _break(via, rng):
    """One connection that breaks at a random point of its life, by RST or FIN."""
    with via.connect() as client:
        with contextlib.suppress(ConnectionError, AssertionError):
            whole = {"socks5": b"\x05\x01\x00" + clients.socks5_request(clients.socks_address(via.host, via.port)),
                     "connect": clients.connect_head(via.host, via.port)}.get(via.how, b"")
            point = rng.randrange(5)
            if point == 1:
                client.send(whole[:rng.randrange(len(whole) + 1)])
            elif point == 2:
                client.send(whole)
            elif point == 3:
                client.send(whole + b"payload" * rng.randrange(1, 2000))
            elif point == 4:
                client.send(whole or b"payload")
                client.socket.recv(1)
                client.send(b"payload")
            if rng.randrange(3):
                client.reset()


@pytest.mark.parametrize("name", ("relay", "connect", "socks5"))
def test_B156_limits_that_leak(name):
    """Counters did not fall on some error paths. 100 in all; thousands of connections that break
    anywhere; then 100 good ones, and one more."""
    def broken_origin(conn):
        if conn.index % 3 == 0:
            conn.reset()
        else:
            echo(conn)

    with Origin(broken_origin) as origin, \
            front(name, origin, "--set", f"max_connections={LIMIT}", "--workers", "2") as via:
        with via.proxy.keeps_base_fds(seconds=5):
            def run(seed):
                rng = random.Random(seed)
                for _ in range(800):
                    _break(via, rng)
            threads = [threading.Thread(target=run, args=(seed,)) for seed in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

        origin.script = echo
        with via.proxy.keeps_base_fds(seconds=5):
            good = [via.open() for _ in range(LIMIT)]
            try:
                assert all(_works(client) for client in good)
                _expect_full(via)
                assert all(_works(client) for client in good), "the good ones suffered"
                good.pop().close()
                wait_until(lambda: _opens(via), 2, "a place is free again")
            finally:
                for client in good:
                    client.close()


def _opens(via):
    try:
        with via.open() as client:
            return _works(client)
    except (AssertionError, ConnectionError):
        return False


def test_B156_failed_connects_give_their_place_back():
    with front("connect", ("127.0.0.1", closed_port()), "--set", "max_connections=5") as via:
        for _ in range(100):
            via.expect_refusal(connect=(502,))


def test_no_limit_by_default():
    with Origin(echo) as origin, front("relay", origin) as via:
        held = [via.open() for _ in range(300)]
        assert all(_works(client) for client in held)
        for client in held:
            client.close()


def test_the_limit_is_of_a_listener_over_all_its_addresses_and_workers():
    with Origin(echo) as origin, front("relay", origin, "--set", "max_connections=4", "--workers", "2",
                                       listen=["127.0.0.1:0", "127.0.0.2:0"]) as via:
        held = [Client(address) for _ in range(2) for address in via.proxy.addresses]
        assert all(_works(client) for client in held)
        _expect_full(via)
        for client in held:
            client.close()
