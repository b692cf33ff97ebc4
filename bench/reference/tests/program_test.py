"""headrace-reference as a program: what it is measured for has to be right."""

import contextlib
import os
import random
import socket
import subprocess
import threading

import pytest

PROGRAM = os.environ["HEADRACE_REFERENCE"]
PATIENCE_S = 30


@contextlib.contextmanager
def running(*options):
    """-> the socket that it leads to, and where it listens"""
    with socket.create_server(("127.0.0.1", 0)) as origin:
        origin.settimeout(PATIENCE_S)
        process = subprocess.Popen(
            [PROGRAM, "--listen", "127.0.0.1:0", "--to", "127.0.0.1:%d" % origin.getsockname()[1], *options],
            stderr=subprocess.PIPE, text=True)
        try:
            word, address = process.stderr.readline().split()
            assert word == "listening"
            host, port = address.split(":")
            yield origin, (host, int(port))
            assert process.poll() is None
        finally:
            process.kill()
            process.communicate()


@contextlib.contextmanager
def pair(origin, address):
    with socket.create_connection(address, PATIENCE_S) as client:
        upstream, _ = origin.accept()
        with upstream:
            upstream.settimeout(PATIENCE_S)
            yield client, upstream


def read_to_end(sock):
    return b"".join(iter(lambda: sock.recv(1 << 20), b""))


def send_and_end(sock, data):
    sock.sendall(data)
    sock.shutdown(socket.SHUT_WR)


def send_until_it_fails(sock):
    with contextlib.suppress(ConnectionError):
        while True:
            sock.sendall(bytes(1 << 20))


@pytest.fixture(params=[(), ("--splice",)], ids=["copy", "splice"])
def options(request):
    return request.param


def test_bulk_arrives_both_ways_at_once_and_ends_clean(options):
    up, down = (random.Random(seed).randbytes(20_000_000) for seed in (1, 2))
    with running(*options) as (origin, address), pair(origin, address) as (client, upstream):
        senders = [threading.Thread(target=send_and_end, args=way) for way in ((client, up), (upstream, down))]
        received = []
        reader = threading.Thread(target=lambda: received.append(read_to_end(upstream)))
        for thread in (*senders, reader):
            thread.start()
        assert read_to_end(client) == down
        reader.join()
        assert received == [up]
        for thread in senders:
            thread.join()


def test_small_exchanges_on_many_connections(options):
    with running(*options) as (origin, address), contextlib.ExitStack() as stack:
        pairs = [stack.enter_context(pair(origin, address)) for _ in range(100)]
        for number in range(5):
            for client, upstream in pairs:
                client.sendall(b"question %d" % number)
                assert upstream.recv(100) == b"question %d" % number
                upstream.sendall(b"answer" * 200)
                assert client.recv(1200, socket.MSG_WAITALL) == b"answer" * 200


def test_half_close_is_kept(options):
    with running(*options) as (origin, address), pair(origin, address) as (client, upstream):
        send_and_end(client, b"bye")
        assert read_to_end(upstream) == b"bye"
        send_and_end(upstream, b"answer")
        assert read_to_end(client) == b"answer"


def test_a_side_that_goes_takes_the_other_along(options):
    with running(*options) as (origin, address), pair(origin, address) as (client, upstream):
        client.sendall(b"x")
        assert upstream.recv(1) == b"x"
        upstream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        upstream.close()
        with contextlib.suppress(ConnectionResetError):
            assert client.recv(1) == b""


def test_a_client_that_goes_in_the_middle_of_bulk_hurts_nobody_else(options):
    with running(*options) as (origin, address):
        for _ in range(5):
            with pair(origin, address) as (client, upstream):
                sender = threading.Thread(target=send_until_it_fails, args=(upstream,))
                sender.start()
                assert client.recv(5_000_000, socket.MSG_WAITALL)
                client.close()
                sender.join()
        with pair(origin, address) as (client, upstream):
            client.sendall(b"x")
            assert upstream.recv(1) == b"x"


def test_wrong_usage_is_told():
    done = subprocess.run([PROGRAM, "--listen", "nowhere"], capture_output=True, text=True, timeout=PATIENCE_S,
                          check=False)
    assert done.returncode == 2
    assert "usage:" in done.stderr
