"""Shared by all end-to-end tests: the harness's assertions are explained like a test's own."""

import pytest

pytest.register_assert_rewrite("harness")

from harness import engine  # noqa: E402
from harness.dns import DnsServer  # noqa: E402
from harness.netns import TwoHosts  # noqa: E402
from harness.proxy import binary  # noqa: E402


def pytest_sessionstart():
    if engine.is_missing(binary()):
        pytest.exit("no io_uring to be had here", returncode=engine.SKIPPED)


@pytest.fixture
def dns():
    """A name server where o.example.test (and other.example.test) is 127.0.0.1."""
    with DnsServer() as server:
        server.add("o.example.test", "127.0.0.1")
        server.add("other.example.test", "127.0.0.1")
        yield server


@pytest.fixture
def two_hosts():
    """A host for the proxy and one for clients and origins, joined by a cable."""
    with TwoHosts() as net:
        yield net
