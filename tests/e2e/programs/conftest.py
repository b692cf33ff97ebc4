"""Fixtures of the tests with real programs: one nginx for the run, a proxy per test."""

import os

import pytest

from harness.proxy import Proxy

from .support import Certificate, Nginx

BIG_BYTES = 20 * 1024 * 1024


@pytest.fixture(scope="session", name="certificate")
def certificate_fixture(tmp_path_factory):
    return Certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture(scope="session", name="nginx")
def nginx_fixture(tmp_path_factory, certificate):
    """nginx with hello.txt, big.bin of 20 MiB, and /upload/ that takes PUT."""
    folder = tmp_path_factory.mktemp("nginx")
    upload = "    location /upload/ { dav_methods PUT; create_full_put_path on; }\n"
    with Nginx(folder, certificate, locations=upload) as server:
        (server.root / "hello.txt").write_text("hello through the race\n")
        (server.root / "big.bin").write_bytes(os.urandom(BIG_BYTES))
        (server.root / "upload").mkdir()
        yield server


@pytest.fixture(name="http_proxy")
def http_proxy_fixture():
    with Proxy("http", access_log=True) as proxy:
        yield proxy


@pytest.fixture(name="socks_proxy")
def socks_proxy_fixture():
    with Proxy("socks", access_log=True) as proxy:
        yield proxy
