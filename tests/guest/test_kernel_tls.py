"""TLS by the kernel (kTLS), on a kernel that has it: run in the guest by tests/guest/kernel_tls, which first has the
end-to-end tests of TLS run with it on. /proc/net/tls_stat tells that it was the kernel."""

import contextlib
import hashlib
import pathlib
import socket
import subprocess
import sys

import pytest

sys.path += [str(pathlib.Path(__file__).parents[1] / "e2e" / folder) for folder in (".", "tls")]

from harness.origin import Origin, echo, payload, sha256, sink  # noqa: E402
from harness.proxy import Proxy  # noqa: E402
from harness.timing import limit, wait_until  # noqa: E402
from libssl import Cut, Peer  # noqa: E402
from tls_support import Authority, TlsClient, client_context  # noqa: E402

MIB = 1024 * 1024


@pytest.fixture(scope="session")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="session")
def identity(authority):
    return authority.issue("o.example.test", "IP:127.0.0.1")


def tls_stat():
    lines = pathlib.Path("/proc/net/tls_stat").read_text().splitlines()
    return {name: int(value) for name, value in (line.split() for line in lines)}


@contextlib.contextmanager
def kernel_takes(receiving, sending):
    """So many ways of connections are handed over to the kernel meanwhile, which finds no record bad."""
    before = tls_stat()
    yield
    after = tls_stat()
    risen = {name: after[name] - before[name] for name in ("TlsRxSw", "TlsTxSw", "TlsDecryptError")}
    assert risen == {"TlsRxSw": receiving, "TlsTxSw": sending, "TlsDecryptError": 0}


def terminating(origin, identity, mode, *args):
    return Proxy("relay", "--to", origin.authority, *identity.arguments, "--set", f"tls.ktls={mode}", "--workers", "1",
                 *args, access_log=True)


def originating(origin, authority, mode, *args):
    return Proxy("relay", "--to", origin.authority, "--to-tls", "--to-ca", authority.path, "--set",
                 f"to_tls.ktls={mode}", "--workers", "1", *args, access_log=True)


def connect(proxy, **more):
    plain = socket.create_connection(proxy.address, timeout=limit(20))
    plain.settimeout(None)  # the library wants to wait by itself
    return Peer(plain, **more)


def path_of(proxy):
    return proxy.wait_access_lines()[-1]["path"]


# ---- bulk ----

@pytest.mark.parametrize("mode, megabytes", [("on", 200), ("auto", 24)])
def test_both_ways_come_whole_from_the_client(mode, megabytes, authority, identity):
    data = payload(MIB) * megabytes

    def script(conn):
        digest, left = hashlib.sha256(), len(data)
        while left:
            piece = conn.socket.recv(1 << 18)
            digest.update(piece)
            left -= len(piece)
        conn.send(digest.digest())
        conn.send(data)

    with Origin(script) as origin, terminating(origin, identity, mode) as proxy, kernel_takes(1, 1):
        with TlsClient(proxy.address, client_context(authority), name="o.example.test") as client:
            client.send(data)
            assert client.exactly(32).hex() == sha256(data)
            assert client.hash_to_end() == (len(data), sha256(data))
            assert client.ended == "eof"
        assert path_of(proxy) == "ktls"


def test_auto_leaves_what_moves_little_to_the_library(authority, identity):
    with Origin(echo) as origin, terminating(origin, identity, "auto") as proxy, kernel_takes(0, 0):
        with TlsClient(proxy.address, client_context(authority), name="o.example.test") as client:
            for _ in range(50):
                client.send(b"x" * 1000)
                assert client.exactly(1000) == b"x" * 1000
        assert path_of(proxy) == "tls"


def test_1000_connections(authority, identity):
    """All at once, all by the kernel; nothing of them is left."""
    context = client_context(authority)
    with Origin(echo) as origin, terminating(origin, identity, "on") as proxy, kernel_takes(1000, 1000):
        with contextlib.ExitStack() as held:
            clients = [held.enter_context(TlsClient(proxy.address, context, name="o.example.test"))
                       for _ in range(1000)]
            for number in range(3):
                for client in clients:
                    client.send(b"%d" % number * 500)
                for client in clients:
                    assert client.exactly(500) == b"%d" % number * 500
            now = tls_stat()
            assert (now["TlsCurrRxSw"], now["TlsCurrTxSw"]) == (1000, 1000)
        wait_until(lambda: tls_stat()["TlsCurrRxSw"] == 0, 10, "the connections are gone")


# ---- records that are no data ----

@pytest.mark.parametrize("asks_for_one", [False, True])
def test_a_key_update_of_a_client_ends_the_connection_as_a_cut(asks_for_one, identity):
    """Linux before 6.14 cannot go on with another key."""
    ends = []

    def script(conn):
        ends.append((len(conn.read_to_end()), conn.ended))

    with Origin(script) as origin, terminating(origin, identity, "on") as proxy:
        with kernel_takes(1, 0), connect(proxy) as client:
            client.send(b"a" * MIB)
            client.key_update(asks_for_one)
            with contextlib.suppress(Cut):
                client.send(b"b" * MIB)
                client.close_notify()
                client.to_end()
        wait_until(lambda: ends, 10, "the origin's connection ends")
        assert ends[0][1] == "reset" and ends[0][0] <= MIB
        assert proxy.wait_access_lines()[0]["result"] != "ok"


def test_a_key_update_of_an_upstream_ends_the_connection_as_a_cut(authority, identity):
    def script(conn):
        conn.socket.settimeout(None)
        with contextlib.suppress(Cut), Peer(conn.socket, identity) as peer:
            peer.recv()
            peer.send(b"a" * MIB)
            peer.key_update()
            peer.send(b"b" * MIB)
            peer.close_notify()

    with Origin(script) as origin, originating(origin, authority, "on") as proxy:
        with kernel_takes(1, 1), socket.create_connection(proxy.address, timeout=limit(10)) as client:
            client.sendall(b"go")
            received = b""
            with pytest.raises(ConnectionResetError):
                while piece := client.recv(1 << 16):
                    received += piece
            assert received == b"a" * len(received)


def test_a_key_update_before_the_kernel_takes_over_leaves_it_to_the_library(identity):
    data = payload(8 * MIB)
    with Origin(lambda conn: conn.send(conn.read_exactly(len(data)))) as origin, \
            terminating(origin, identity, "auto") as proxy, kernel_takes(0, 0), connect(proxy) as client:
        client.send(data[:1000])
        client.key_update(asks_for_one=True)
        client.send(data[1000:])
        assert client.exactly(len(data)) == data
        client.close_notify()
        client.to_end()
    assert path_of(proxy) == "tls"


def test_a_key_update_where_the_kernel_only_sends(identity):
    """One that asks for nothing is the library's business; one that asks for ours cannot be answered."""
    data = payload(4 * MIB)

    def script(conn):
        while conn.socket.recv(1000):
            conn.send(data)

    with Origin(script) as origin, terminating(origin, identity, "auto") as proxy, kernel_takes(0, 1):
        with connect(proxy) as client:
            for asks_for_one in (None, False, False):
                if asks_for_one is not None:
                    client.key_update(asks_for_one)
                client.send(b"more")
                assert client.exactly(len(data)) == data
            client.key_update(asks_for_one=True)
            with pytest.raises(Cut):
                client.send(b"more")
                client.exactly(len(data))
        assert proxy.wait_access_lines()[0]["result"] != "ok"


def test_tickets_after_data(authority, identity):
    """They are the only records that come between data and mean nothing to the one who reads."""
    def script(conn):
        conn.socket.settimeout(None)
        with Peer(conn.socket, identity) as peer:
            for _ in range(5):
                assert peer.recv() == b"ask"
                peer.new_ticket()
                peer.send(b"x" * 50000)
            peer.close_notify()
            peer.to_end()

    with Origin(script) as origin, originating(origin, authority, "on") as proxy:
        with kernel_takes(1, 1), socket.create_connection(proxy.address, timeout=limit(10)) as client:
            for _ in range(5):
                client.sendall(b"ask")
                left = 50000
                while left:
                    piece = client.recv(left)
                    assert piece == b"x" * len(piece) and piece
                    left -= len(piece)
            assert client.recv(1) == b""
        assert path_of(proxy) == "ktls"


def test_an_end_without_close_notify_is_a_cut(identity):
    with Origin(lambda conn: conn.read_to_end()) as origin, terminating(origin, identity, "on") as proxy, \
            kernel_takes(1, 0), connect(proxy) as client:
        for part in (b"half ", b"a messa"):
            client.send(part)
            conn = origin.wait_connection(seconds=10)
            wait_until(lambda: conn.received.endswith(part), 10, "the origin has it")  # pylint: disable=W0640
        client.socket.shutdown(socket.SHUT_WR)
        assert conn.wait_ended(10) == "reset"


# ---- suites ----

@pytest.mark.parametrize("suite, there", [("TLS_AES_128_GCM_SHA256", True), ("TLS_AES_256_GCM_SHA384", True),
                                          ("TLS_CHACHA20_POLY1305_SHA256", False),
                                          ("TLS_CHACHA20_POLY1305_SHA256", True)])
def test_B027_with_suites_that_the_kernel_knows_or_does_not(suite, there, identity):
    """The ULP was set too early, the call failed, and the kernel was silently never used."""
    if there and "CHACHA" in suite:
        for _ in range(3):
            for module in pathlib.Path("/modules/later").iterdir():
                subprocess.run(["insmod", str(module)], stderr=subprocess.DEVNULL, check=False)
    data = payload(3 * MIB)
    takes = kernel_takes(1, 1) if there else kernel_takes(0, 0)
    with Origin(lambda conn: conn.send(conn.read_exactly(len(data)))) as origin, \
            terminating(origin, identity, "on") as proxy, takes:
        with connect(proxy, suites=suite) as client:
            client.send(data)
            assert client.exactly(len(data)) == data
            assert client.to_end() == b""
        assert path_of(proxy) == ("ktls" if there else "tls")


def test_the_start_says_who_does_it(identity):
    with Origin(sink) as origin, terminating(origin, identity, "on") as proxy:
        proxy.wait_log("event=ktls .*the kernel does TLS")


def test_off_is_off(identity):
    data = payload(3 * MIB)
    with Origin(lambda conn: conn.send(conn.read_exactly(len(data)))) as origin, \
            terminating(origin, identity, "off") as proxy, kernel_takes(0, 0), connect(proxy) as client:
        client.send(data)
        assert client.exactly(len(data)) == data
    assert "event=ktls" not in proxy.log_text
