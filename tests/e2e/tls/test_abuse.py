"""Clients that keep the proxy busy with TLS itself."""

import socket
import ssl
import time

import pytest

from forged_records import ALERT, DATA, HANDSHAKE, Tls12Records, Tls13Records, record_kinds
from harness.client import Client
from harness.origin import Origin, echo
from harness.proxy import Proxy
from harness.timing import SLOW, limit, wait_until
from tls_support import TlsClient, TlsSocket, client_context, openssl

# What the proxy has taken when it ends such a client: its limit, and what the sockets hold.
TAKEN_BYTES_MAX = 8 * 1024 * 1024


class Recorded:
    """A socket that keeps what was received."""

    def __init__(self, plain):
        self.plain, self.received = plain, b""

    def recv(self, count):
        data = self.plain.recv(count)
        self.received += data
        return data

    def __getattr__(self, name):
        return getattr(self.plain, name)


@pytest.fixture
def relay(identity):
    with Origin(echo) as origin, \
            Proxy("relay", "--to", f"127.0.0.1:{origin.port}", *identity.arguments, access_log=True) as proxy:
        proxy.origin = origin
        yield proxy


def shake_hands(client, authority, version, log):
    context = client_context(authority, version=version)
    context.keylog_filename = str(log)
    context.set_ciphers("ECDHE+AESGCM")  # of TLS 1.2, the kind that can be forged here
    plain = Recorded(client.socket)
    return TlsSocket(plain, context), plain


def send_until_ended(client, pieces):
    """How much of it was taken; fails if nobody ended the connection."""
    taken = 0
    client.socket.settimeout(limit(20))
    client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 64 * 1024)  # what it holds is not taken
    try:
        for piece in pieces:
            client.socket.sendall(piece)
            taken += len(piece)
    except OSError:
        return taken
    try:
        while client.socket.recv(65536):
            pass
    except ConnectionResetError:
        pass
    return taken


def handshake_message(kind, length):
    """Its head, and all of its body, in records of 16 KiB."""
    message = bytes([kind]) + length.to_bytes(3, "big") + bytes(length)
    for at in range(0, len(message), 16384):
        part = message[at:at + 16384]
        yield bytes([HANDSHAKE, 3, 1]) + len(part).to_bytes(2, "big") + part


@pytest.mark.parametrize("kind, length", [(1, 0xffffff), (1, 140_000), (2, 0xffffff), (11, 0xffffff), (0, 0)],
                         ids=["16 MiB hello", "137 KiB hello", "server hello", "certificate", "hello request"])
def test_oversized_and_misplaced_handshake_messages(kind, length, relay, authority):
    """A message may say that it is 16 MiB long, and nobody should hold that for it, nor wait for its end."""
    memory = relay.rss_kib()
    clients = [Client(relay.address) for _ in range(20)]
    for client in clients:
        assert send_until_ended(client, handshake_message(kind, length)) < TAKEN_BYTES_MAX
        client.close()
    wait_until(lambda: relay.log_text.count("reason=tls_failed") == 20, 3, lambda: relay.log_text)
    assert relay.rss_kib() - memory < 3 * 1024 * SLOW
    assert not relay.origin.connections
    with TlsClient(relay.address, client_context(authority)) as client:
        client.send(b"x")
        assert client.exactly(1) == b"x"


def empty_records(records):
    return records.record(DATA, b"")


def key_updates(records):
    return records.key_update()


def key_updates_and_a_byte_now_and_then(records):
    return b"".join(records.key_update() for _ in range(100)) + records.record(DATA, b"x")


@pytest.mark.parametrize("make", [empty_records, key_updates, key_updates_and_a_byte_now_and_then])
def test_B181_records_without_data_are_bounded(make, relay, authority, tmp_path):
    """A client could keep the proxy busy with records that carry nothing, and a byte now and then hid it."""
    with Client(relay.address) as client:
        wrapped, _ = shake_hands(client, authority, ssl.TLSVersion.TLSv1_3, tmp_path / "keys")
        records = Tls13Records(wrapped, tmp_path / "keys")
        client.send(records.record(DATA, b"good"))
        assert wrapped.recv(100) == b"good"
        before = relay.cpu_seconds()
        count = 1_000 if make is key_updates_and_a_byte_now_and_then else 100_000
        taken = send_until_ended(client, (b"".join(make(records) for _ in range(10)) for _ in range(count // 10)))
        assert taken < TAKEN_BYTES_MAX
        assert relay.cpu_seconds() - before < 0.2 * SLOW
    assert relay.wait_access_lines()[0]["result"] == "client_tls_failed"


def test_key_updates_among_data_are_fine(relay, authority, tmp_path):
    """A client that changes its keys for every byte is odd and no abuse: it pays for what it costs."""
    with Client(relay.address) as client:
        wrapped, _ = shake_hands(client, authority, ssl.TLSVersion.TLSv1_3, tmp_path / "keys")
        records = Tls13Records(wrapped, tmp_path / "keys")
        for _ in range(50):
            client.send(b"".join(records.key_update() + records.record(DATA, b"x") for _ in range(100)))
            got = b""
            while len(got) < 100:
                got += wrapped.recv(1000)
            assert got == b"x" * 100


def test_B181_renegotiation_is_refused(relay, authority):
    """A client could force handshakes without end."""
    done = openssl("s_client", "-connect", f"127.0.0.1:{relay.port}", "-tls1_2", "-CAfile", authority.path,
                   stdin=b"R\n", check=False)
    text = done.stdout + done.stderr
    assert b"RENEGOTIATING" in text and b"no renegotiation" in text, text
    assert text.count(b"SSL handshake has read") == 1


def test_B181_1000_renegotiations(relay, authority, tmp_path):
    """Nor by asking again and again."""
    with Client(relay.address) as client:
        wrapped, plain = shake_hands(client, authority, ssl.TLSVersion.TLSv1_2, tmp_path / "keys")
        server_random = plain.received[11:43]
        records = Tls12Records(wrapped, tmp_path / "keys", server_random)
        client.send(records.record(DATA, b"good"))
        assert wrapped.recv(100) == b"good"
        before, plain.received = relay.cpu_seconds(), b""
        body = bytes([3, 3]) + bytes(32) + b"\0" + b"\0\2\xc0\x2b" + b"\1\0"
        hello = bytes([1]) + len(body).to_bytes(3, "big") + body
        try:
            for _ in range(1_000):
                client.socket.sendall(records.record(HANDSHAKE, hello))
                time.sleep(0)
            client.socket.settimeout(limit(5))
            while plain.recv(65536):
                pass
        except (ConnectionResetError, BrokenPipeError):
            pass
        kinds = record_kinds(plain.received)
        assert set(kinds) <= {ALERT}, "no ServerHello may come"
        assert relay.cpu_seconds() - before < 0.2 * SLOW
    wait_until(lambda: relay.access_lines(), 3, "the end of it")
    assert relay.access_lines()[0]["result"] == "client_tls_failed"


def test_a_denied_client_costs_a_relay_no_handshake(identity):
    """Not a byte of TLS is for who may not come, whatever he says."""
    with Proxy("relay", "--to", "127.0.0.1:9", "--allow", "192.0.2.0/24", *identity.arguments,
               access_log=True) as proxy:
        with Client(proxy.address) as client:
            try:
                TlsSocket(client.socket, client_context())
            except (ConnectionResetError, BrokenPipeError):
                pass
            else:
                pytest.fail("the relay shook hands")
        proxy.wait_log("event=refused reason=client_denied .*protocol=relay client=127.0.0.1")
        line = proxy.wait_access_lines()[0]
        assert line["result"] == "client_denied" and line["target"] == "127.0.0.1:9"
