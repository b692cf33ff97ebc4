"""Which engine is taken, what is said about it, and that either carries the same bytes."""

import contextlib
import subprocess
import sys

import pytest

from harness import engine, without_io_uring
from harness.client import Client
from harness.origin import Origin, echo, payload
from harness.proxy import Proxy, binary
from harness.timing import limit

FORBID = (sys.executable, without_io_uring.__file__)

needs_io_uring = pytest.mark.skipif(not engine.has_io_uring(binary()), reason="no io_uring here")


@pytest.fixture(autouse=True)
def chosen_here(monkeypatch):
    monkeypatch.delenv(engine.VARIABLE, raising=False)


@contextlib.contextmanager
def echoed_through(*arguments, prefix=()):
    """A relay to an echo and a client of it."""
    with Origin(echo) as origin, \
            Proxy("relay", "--to", f"127.0.0.1:{origin.port}", *arguments, prefix=prefix) as proxy, \
            Client(proxy.address) as client:
        yield proxy, client


def exchange(client, count=100):
    """So many small messages, one after the other, then a large one."""
    for i in range(count):
        message = payload(1 + i * 37 % 5000)
        client.send(message)
        assert client.exactly(len(message)) == message
    large = payload(300_000)
    client.send(large)
    assert client.exactly(len(large)) == large


@needs_io_uring
def test_auto_takes_io_uring_where_there_is_one():
    with echoed_through() as (proxy, client):
        exchange(client)
        proxy.wait_log(r"event=started .*engine=io_uring")


@pytest.mark.parametrize("chosen", ("epoll", pytest.param("io_uring", marks=needs_io_uring)))
def test_an_engine_can_be_chosen(chosen):
    with echoed_through("--engine", chosen) as (proxy, client):
        exchange(client)
        proxy.wait_log(f"event=started .*engine={chosen}")


def test_auto_does_without_and_says_why():
    with echoed_through(prefix=FORBID) as (proxy, client):
        exchange(client)
        proxy.wait_log(r'event=started .*engine=epoll io_uring="Operation not permitted"')


def test_io_uring_that_cannot_be_had_is_exit_code_1():
    command = [*FORBID, binary(), "relay", "127.0.0.1:0", "--to", "127.0.0.1:9", "--engine", "io_uring"]
    done = subprocess.run(command, text=True, capture_output=True, timeout=limit(10), check=False)
    assert done.returncode == 1, done
    assert "no io_uring to be had: Operation not permitted" in done.stderr
    assert "listening" not in done.stderr


def test_an_unknown_engine_does_not_start():
    command = [binary(), "relay", "127.0.0.1:0", "--to", "127.0.0.1:9", "--engine", "kqueue"]
    done = subprocess.run(command, text=True, capture_output=True, timeout=limit(10), check=False)
    assert done.returncode == 1, done
    assert "kqueue" in done.stderr
