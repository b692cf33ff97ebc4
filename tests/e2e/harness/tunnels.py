"""The same tunnel through each front end, so that a test about bytes runs over all of them.

    with front("socks5", origin, "--splice", "never") as via:
        with via.open() as client: client.send(b"to the origin")
"""

import contextlib

from . import client as clients
from .client import Client
from .proxy import Proxy

# name -> (command, how a tunnel is asked for)
_FRONTS = {
    "relay": ("relay", "plain"),
    "connect": ("http", "connect"),
    "socks5": ("socks", "socks5"),
    "socks4": ("socks", "socks4"),
    "socks4a": ("socks", "socks4a"),
    "mixed-connect": ("mixed", "connect"),
    "mixed-socks5": ("mixed", "socks5"),
    "mixed-socks4a": ("mixed", "socks4a"),
}
FRONTS = tuple(_FRONTS)
# One of each kind of set-up.
MAIN_FRONTS = ("relay", "connect", "socks5", "socks4a")
SPLICE = ("never", "always", "auto")


def ask(client, how, host, port, early=b""):
    """Asks on `client` for a tunnel to host:port; fails unless it is granted."""
    if how == "connect":
        response = clients.http_connect(client, host, port, early=early)
        assert response.status == 200, f"CONNECT refused: {response}"
    elif how == "socks5":
        reply = clients.socks5(client, host, port, early=early)
        assert reply.code == 0, f"SOCKS5 refused: {reply}"
    elif how in ("socks4", "socks4a"):
        reply = clients.socks4(client, host, port, early=early)
        assert reply[1] == 0x5A, f"SOCKS4 refused: {reply.hex(' ')}"
    elif early:
        client.send(early)


def expect_refusal(client, how, host, port, connect=(), socks5=(), socks4=0x5B, seconds=2):
    """Asks for a tunnel that must be refused with one of the given codes, and then ended."""
    if how == "connect":
        response = clients.http_connect(client, host, port)
        assert response.status in connect, response
        assert response.text.strip(), "a refusal has a text that says why"
    elif how == "socks5":
        reply = clients.socks5(client, host, port)
        assert reply.code in socks5, reply
    elif how in ("socks4", "socks4a"):
        reply = clients.socks4(client, host, port)
        assert reply[1] == socks4, reply.hex(" ")
    client.expect_end(seconds)


class Via:
    """A running proxy and how to get through it to the origin."""

    def __init__(self, proxy, how, host, port):
        self.proxy, self.how, self.host, self.port = proxy, how, host, port

    def connect(self, **client_options):
        """A Client that has asked for nothing yet."""
        return Client(self.proxy.address, **client_options)

    def expect_refusal(self, seconds=2, **codes):
        """One client is refused as expect_refusal() says."""
        with self.connect() as client:
            expect_refusal(client, self.how, self.host, self.port, seconds=seconds, **codes)

    def open(self, early=b"", host=None, **client_options):
        """A Client whose tunnel stands. `early` goes in the same segment as the request."""
        client = Client(self.proxy.address, **client_options)
        try:
            ask(client, self.how, host or self.host, self.port, early)
        except BaseException:
            client.close()
            raise
        return client


@contextlib.contextmanager
def front(name, origin, *args, origin_host=None, **proxy_options):
    """A proxy with front end `name`, ready to open tunnels to `origin` (an Origin, or a (host, port))."""
    command, how = _FRONTS[name]
    host, port = origin if isinstance(origin, tuple) else origin.address
    host = origin_host or host
    if command == "relay":
        args = ("--to", clients.authority(host, port), *args)
    with Proxy(command, *args, **proxy_options) as proxy:
        yield Via(proxy, how, host, port)
