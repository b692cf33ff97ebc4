"""Many connections in one moment, when all of them are on their way at once."""

import contextlib
import socket

from harness.client import Client
from harness.origin import Origin, echo
from harness.timing import wait_until
from harness.tunnels import front

LIMIT = 10
CONNECTIONS = 64


def _burst(address):
    """Clients whose connects are all begun before one has ended."""
    sockets = []
    for _ in range(CONNECTIONS):
        sock = socket.socket()
        sock.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            sock.connect(address)
        sockets.append(sock)
    return [Client(address, connected=sock) for sock in sockets]


def _is_served(client):
    with contextlib.suppress(AssertionError, ConnectionError):
        client.send(b"x")
        return client.exactly(1) == b"x"
    return False


def test_max_connections_holds_in_a_burst():
    """A connection that is handed to another worker counts from the moment it was accepted. Two
    workers that look at the count in the same moment may both take the last place."""
    with Origin(echo) as origin, \
            front("relay", origin, "--set", f"max_connections={LIMIT}", "--workers", "2") as via:
        for _ in range(5):
            with contextlib.ExitStack() as stack:
                clients = [stack.enter_context(client) for client in _burst(via.proxy.address)]
                assert sum(map(_is_served, clients)) in (LIMIT, LIMIT + 1)
            wait_until(lambda: all(conn.ended for conn in origin.connections), 2, "all places are free again")
