"""Connects that fail: answered at once, and nothing leaks."""

import pytest

from harness.origin import Origin, closed_port, echo
from harness.tunnels import FRONTS, MAIN_FRONTS, front


@pytest.mark.parametrize("name", MAIN_FRONTS)
def test_B015_failed_connects_leak_nothing(name):
    """When the outgoing connect failed, the accepted socket and its place under the limit leaked."""
    port = closed_port()
    with front(name, ("127.0.0.1", port), "--set", "max_connections=100") as via, via.proxy.keeps_base_fds():
        for _ in range(2000):
            via.expect_refusal(connect=(502,), socks5=(5,))
        with Origin(echo, port=port):
            with via.open() as client:
                client.send(b"works")
                assert client.exactly(5) == b"works"


@pytest.mark.parametrize("name", FRONTS)
def test_a_refused_connect_is_told_with_its_code(name):
    with front(name, ("127.0.0.1", closed_port())) as via:
        via.expect_refusal(connect=(502,), socks5=(5,))
