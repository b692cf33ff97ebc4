"""Fixtures of the HTTP tests.

This folder is called http like a module of Python's library, so it can never be a package: its helpers
are found by their own name, http_support.
"""

import pathlib
import sys

import pytest

sys.path.append(str(pathlib.Path(__file__).parent))
pytest.register_assert_rewrite("http_support")

from harness.client import Client  # noqa: E402
from harness.proxy import Proxy  # noqa: E402
from http_support import FineOrigin  # noqa: E402


@pytest.fixture(name="origin")
def origin_fixture():
    with FineOrigin() as server:
        yield server


@pytest.fixture(name="proxy")
def proxy_fixture(dns):
    """`headrace http` with one worker, hence one pool, that asks the test's name server."""
    with Proxy("http", "--workers", "1", *dns.options(), access_log=True) as running:
        yield running


@pytest.fixture(name="client")
def client_fixture(proxy):
    with Client(proxy.address) as connected:
        yield connected
