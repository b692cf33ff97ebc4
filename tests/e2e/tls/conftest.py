"""Fixtures of the TLS tests."""

import pathlib
import sys

import pytest

sys.path.append(str(pathlib.Path(__file__).parent))
pytest.register_assert_rewrite("tls_support")

from tls_support import Authority  # noqa: E402


@pytest.fixture(scope="session")
def authority(tmp_path_factory):
    """A certificate authority of the test run's own."""
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="session")
def identity(authority):
    """What most of the proxies here are."""
    return authority.issue("o.example.test", "IP:127.0.0.1")
