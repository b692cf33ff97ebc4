"""TLS from the client, in front of every front end: bytes, ends, and what a handshake may be."""

import os
import socket
import ssl
import time

import pytest

from harness.client import Client
from harness.origin import HttpOrigin, Origin, echo, ok, payload, sha256, sink
from harness.proxy import Proxy
from harness.timing import Stopwatch, limit, wait_until
from harness.tunnels import ask
from tls_support import TlsClient, TlsSocket, client_context, openssl, tls_paths

MIB = 1024 * 1024
FRONTS = {"relay": ("relay", "plain"), "connect": ("http", "connect"), "socks5": ("socks", "socks5"),
          "mixed-socks5": ("mixed", "socks5"), "mixed-connect": ("mixed", "connect")}
VERSIONS = {"1.2": ssl.TLSVersion.TLSv1_2, "1.3": ssl.TLSVersion.TLSv1_3}


def proxy_for(front, origin, identity, *args, **more):
    command, _ = FRONTS[front]
    to = ("--to", f"127.0.0.1:{origin.port}") if command == "relay" else ()
    return Proxy(command, *to, *identity.arguments, *args, **more)


def open_tunnel(front, proxy, origin, context, **more):
    client = TlsClient(proxy.address, context, **more)
    ask(client, FRONTS[front][1], "127.0.0.1", origin.port)
    return client


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("front", FRONTS)
def test_bytes_and_ends_pass_each_way(front, version, authority, identity):
    data = payload(3 * MIB, front)
    with Origin(sink) as origin, proxy_for(front, origin, identity, access_log=True) as proxy:
        context = client_context(authority, version=VERSIONS[version])
        with open_tunnel(front, proxy, origin, context) as client:
            assert client.socket.version() == f"TLSv{version}"
            client.send(data)
            client.fin()
            assert client.to_end() == f"{len(data)} {sha256(data)}".encode()
            assert client.ended == "eof", "a whole answer ends with close_notify"
        line = proxy.wait_access_lines()[0]
        assert line["path"] in tls_paths(version) and line["result"] == "ok"


@pytest.mark.parametrize("front", ["relay", "connect"])
def test_200_mib_come_whole(front, authority, identity):
    total = 200 * MIB
    data = payload(MIB) * 200
    with Origin(lambda conn: (conn.send(data), conn.fin(), conn.drain())) as origin, \
            proxy_for(front, origin, identity) as proxy:
        with open_tunnel(front, proxy, origin, client_context(authority)) as client:
            assert client.hash_to_end() == (total, sha256(data))
            assert client.ended == "eof"


def test_200_mib_go_whole(authority, identity):
    data = payload(MIB) * 200
    with Origin(sink) as origin, proxy_for("relay", origin, identity) as proxy:
        with open_tunnel("relay", proxy, origin, client_context(authority)) as client:
            client.socket.settimeout(limit(60))
            client.send(data)
            client.fin()
            assert client.to_end() == f"{len(data)} {sha256(data)}".encode()


def test_B169_an_answer_up_to_the_end_ends_with_close_notify(authority, identity):
    """FIN came without close_notify, and strict clients reported a truncated answer."""
    def script(conn):
        conn.read_until(b"\r\n\r\n")
        conn.send(b"HTTP/1.0 200 OK\r\n\r\nbody")
        conn.fin()

    with Origin(script) as origin, Proxy("http", *identity.arguments) as proxy:
        with TlsClient(proxy.address, client_context(authority)) as client:
            client.send(f"GET http://127.0.0.1:{origin.port}/ HTTP/1.0\r\n\r\n")
            assert client.to_end().endswith(b"\r\n\r\nbody")
            assert client.ended == "eof"


def test_a_cut_answer_does_not_end_with_close_notify(authority, identity):
    def script(conn):
        conn.read_until(b"\r\n\r\n")
        conn.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
        conn.fin()

    with Origin(script) as origin, Proxy("http", *identity.arguments) as proxy:
        with TlsClient(proxy.address, client_context(authority)) as client:
            client.send(f"GET http://127.0.0.1:{origin.port}/ HTTP/1.1\r\nHost: x\r\n\r\n")
            assert client.to_end().endswith(b"half")
            assert client.ended in ("cut", "reset")


def test_B171_half_close_inside_tls(authority, identity):
    """close_notify from the client ended both directions."""
    answer = payload(5 * MIB)

    def script(conn):
        assert conn.read_to_end() == b"req"
        assert conn.ended == "eof"
        time.sleep(0.3)
        conn.send(answer)
        conn.fin()

    with Origin(script) as origin, proxy_for("relay", origin, identity) as proxy:
        with TlsClient(proxy.address, client_context(authority, version=VERSIONS["1.3"])) as client:
            client.send(b"req")
            client.fin()
            assert client.hash_to_end() == (len(answer), sha256(answer))
            assert client.ended == "eof"


@pytest.mark.parametrize("end", ["fin", "reset"])
def test_a_client_that_ends_without_close_notify_is_a_cut(end, authority, identity):
    with Origin(lambda conn: conn.read_to_end()) as origin, \
            proxy_for("relay", origin, identity, access_log=True) as proxy:
        with TlsClient(proxy.address, client_context(authority)) as client:
            client.send(b"half a messa")
            wait_until(lambda: origin.connections and origin.connections[0].received_bytes == 12, 2,
                       "the bytes at the origin")
            if end == "fin":
                client.plain.fin()
            else:
                client.plain.reset()
        conn = origin.wait_connection(0)
        conn.done.wait(limit(5))
        assert conn.ended == "reset", "the cut must not look like a clean end"
        line = proxy.wait_access_lines()[0]
        assert line["result"] == ("client_cut_short" if end == "fin" else "client_reset")


def test_an_upstream_reset_is_no_clean_end(authority, identity):
    def script(conn):
        conn.send(b"half a messa")
        time.sleep(0.2)
        conn.reset()

    with Origin(script) as origin, proxy_for("relay", origin, identity) as proxy:
        with open_tunnel("relay", proxy, origin, client_context(authority)) as client:
            assert client.to_end() == b"half a messa"
            assert client.ended in ("cut", "reset")


def test_B183_slow_reader_that_uploads_meanwhile(authority, identity):
    """After a blocked TLS write the retry used other data or waited for the wrong event."""
    data = payload(8 * MIB)

    def script(conn):
        conn.send(data)
        conn.fin()
        count, digest = conn.drain()
        assert (count, digest) == (MIB, sha256(payload(MIB, "up")))

    with Origin(script) as origin, proxy_for("relay", origin, identity) as proxy:
        clients = [open_tunnel("relay", proxy, origin, client_context(authority), receive_buffer=4096)
                   for _ in range(8)]
        got = [b""] * len(clients)
        up = payload(MIB, "up")
        for number, client in enumerate(clients):
            client.socket.settimeout(limit(10))
            client.send(up)
        for round_ in range(40):
            for number, client in enumerate(clients):
                got[number] += client.exactly(4096)
            time.sleep(0.005)
        for number, client in enumerate(clients):
            client.fin()
            got[number] += client.to_end()
            assert sha256(got[number]) == sha256(data)
            assert client.ended == "eof"
            client.close()


def test_B027_kernel_tls_where_the_kernel_may_have_none(authority, identity):
    """Where the call failed, nobody noticed that the kernel was never used. With its module: tests/guest."""
    has_tls = os.path.exists("/proc/net/tls_stat")
    data = payload(3 * MIB)
    with Origin(echo) as origin, \
            proxy_for("relay", origin, identity, "--set", "tls.ktls=on", access_log=True) as proxy:
        proxy.wait_log("event=ktls .*" + ("the kernel does TLS" if has_tls else "this kernel has no TLS"))
        with open_tunnel("relay", proxy, origin, client_context(authority)) as client:
            for at in range(0, len(data), 64 * 1024):
                client.send(data[at:at + 64 * 1024])
                assert client.exactly(64 * 1024) == data[at:at + 64 * 1024]
        assert proxy.wait_access_lines()[0]["path"] == ("ktls" if has_tls else "tls")


def test_many_kept_requests(authority, identity):
    with HttpOrigin(lambda request: ok(request.body or b"none")) as origin, Proxy("http", *identity.arguments) as proxy:
        with TlsClient(proxy.address, client_context(authority)) as client:
            for size in (0, 1, 100, 16_384, 16_385, 70_000, 300_000):
                body = payload(size) if size else b""
                client.send(f"POST http://127.0.0.1:{origin.port}/ HTTP/1.1\r\nHost: x\r\n"
                            f"Content-Length: {size}\r\n\r\n".encode() + body)
                assert client.response().body == (body or b"none")
        assert len(origin.connections) == 1


def test_small_pipelined_requests_are_all_answered(authority, identity):
    """Requests that came in one record must not wait for an event that will not come."""
    with HttpOrigin(lambda request: ok(request.target.encode())) as origin, \
            Proxy("http", *identity.arguments) as proxy:
        with TlsClient(proxy.address, client_context(authority)) as client:
            client.send("".join(f"GET http://127.0.0.1:{origin.port}/{n} HTTP/1.1\r\nHost: x\r\n\r\n"
                                for n in range(200)))
            for n in range(200):
                assert client.response().body == f"/{n}".encode()


def test_plain_http_is_answered_in_plain_text(identity):
    with Proxy("http", *identity.arguments) as proxy, Client(proxy.address) as client:
        client.send("GET http://o.example.test/ HTTP/1.1\r\nHost: o.example.test\r\n\r\n")
        response = client.response()
        assert response.status == 400 and "TLS" in response.text
        client.expect_end(3)


@pytest.mark.parametrize("command", ["http", "relay"])
@pytest.mark.parametrize("garbage", [b"\x00" * 300, b"\x05\x01\x00", b"\x16\x03\x01\xff\xff" + b"x" * 70000,
                                     b"\x16\x03\x01\x00\x05hello", b"\x80\x2e\x01\x03\x01", b"\x16\x02\x00\x00\x01x"])
def test_garbage_is_refused_at_once(command, garbage, identity):
    with Origin(echo) as origin:
        to = ("--to", f"127.0.0.1:{origin.port}") if command == "relay" else ()
        with Proxy(command, *to, *identity.arguments) as proxy, proxy.keeps_base_fds():
            with Client(proxy.address) as client:
                try:
                    client.send(garbage)
                    client.socket.shutdown(socket.SHUT_WR)
                except OSError:
                    pass
                client.socket.settimeout(limit(3))
                client.to_end()
                assert client.ended
            proxy.wait_log("reason=(tls_failed|ended|reset)")
        assert not origin.connections


@pytest.mark.parametrize("version", VERSIONS)
def test_each_handshake_record_split_at_every_byte(version, authority, identity):
    with Origin(echo) as origin, proxy_for("relay", origin, identity) as proxy:
        context = client_context(authority, version=VERSIONS[version])

        def exchange(cut_flight=None, cut=0):
            plain = Client(proxy.address)
            lengths = []

            def send(data):
                at = cut if len(lengths) == cut_flight else 0
                lengths.append(len(data))
                if at:
                    plain.socket.sendall(data[:at])
                    time.sleep(0.0005)
                plain.socket.sendall(data[at:])
            with plain:
                wrapped = TlsSocket(plain.socket, context, send_cipher=send)
                flights = len(lengths)
                wrapped.sendall(b"ping")
                assert wrapped.recv(100) == b"ping"
            return lengths[:flights]

        for flight, length in enumerate(exchange()):
            for cut in range(1, length, 1 if length < 150 else 5):
                exchange(flight, cut)


def test_data_behind_the_handshake_in_the_same_segment(authority, identity):
    with Origin(echo) as origin, proxy_for("relay", origin, identity) as proxy:
        held = []

        def hold_the_last_flight(data):
            held.append(data)
            if len(held) == 1:
                plain.socket.sendall(data)

        with Client(proxy.address) as plain:
            wrapped = TlsSocket(plain.socket, client_context(authority, version=VERSIONS["1.3"]),
                                send_cipher=hold_the_last_flight)
            wrapped.sendall(b"at once")
            plain.socket.sendall(b"".join(held[1:]))
            assert wrapped.recv(100) == b"at once"


@pytest.mark.parametrize("version", VERSIONS)
def test_records_of_one_byte_sent_byte_by_byte(version, authority, identity):
    with Origin(echo) as origin, proxy_for("relay", origin, identity) as proxy:
        with open_tunnel("relay", proxy, origin, client_context(authority, version=VERSIONS[version])) as client:
            def drip(data):
                for byte in data:
                    client.plain.send(bytes([byte]))
                    time.sleep(0.0005)
            client.socket.send_cipher = drip
            for letter in (b"a", b"b", b"c"):
                client.send(letter)
                assert client.exactly(1) == letter


def broken_record(client):
    held = []
    client.socket.send_cipher = held.append
    client.send(b"bad!")
    data = bytearray(b"".join(held))
    data[-1] ^= 1
    return bytes(data)


def oversized_record(_):
    return b"\x17\x03\x03\x48\x01" + b"x" * 0x4801


@pytest.mark.parametrize("record", [broken_record, oversized_record])
def test_a_bad_record_is_a_cut(record, authority, identity):
    with Origin(lambda conn: conn.read_to_end()) as origin, \
            proxy_for("relay", origin, identity, access_log=True) as proxy:
        with open_tunnel("relay", proxy, origin, client_context(authority)) as client:
            client.send(b"good")
            conn = origin.wait_connection(0)
            wait_until(lambda: conn.received_bytes == 4, 2, "the good bytes")
            client.plain.send(record(client))
            conn.done.wait(limit(5))
            assert bytes(conn.received) == b"good" and conn.ended == "reset"
        assert proxy.wait_access_lines()[0]["result"] == "client_tls_failed"


def test_old_versions_are_refused(identity):
    with Origin(echo) as origin, proxy_for("relay", origin, identity) as proxy:
        done = openssl("s_client", "-connect", f"127.0.0.1:{proxy.port}", "-tls1_1", "-cipher", "ALL:@SECLEVEL=0",
                       stdin=b"", check=False)
        assert b"protocol version" in done.stderr or b"alert" in done.stderr, done.stderr
        proxy.wait_log("reason=tls_failed")


def test_tls_1_2_can_be_refused(authority, identity):
    with Origin(echo) as origin, proxy_for("relay", origin, identity, "--set", "tls.min_version=1.3") as proxy:
        with pytest.raises(ssl.SSLError):
            TlsClient(proxy.address, client_context(authority, version=VERSIONS["1.2"]))
        TlsClient(proxy.address, client_context(authority, version=VERSIONS["1.3"])).close()


def test_the_set_up_deadline_covers_the_handshake(authority, identity):
    with Origin(echo) as origin, \
            proxy_for("relay", origin, identity, "--set", "setup_timeout=300ms") as proxy:
        for begin in (b"", b"\x16\x03\x01\x02\x00\x01"):
            with Client(proxy.address) as client:
                client.send(begin)
                client.expect_end(2)
        # And is over once the handshake is: silence later is none of its business.
        with open_tunnel("relay", proxy, origin, client_context(authority)) as client:
            time.sleep(0.8)
            client.send(b"still there")
            assert client.exactly(11) == b"still there"
        assert not origin.connections[1:]


@pytest.mark.parametrize("command, asks", [("http", b"GET http://o.example.test/ HT"), ("socks", b"\x05"),
                                           ("mixed", b"")])
def test_the_set_up_deadline_is_one_for_handshake_and_request(command, asks, authority, identity):
    """Not one for each of them: a client that is slow at every step gets no more time than another."""
    with Proxy(command, *identity.arguments, "--set", "setup_timeout=2s") as proxy, Client(proxy.address) as plain:
        watch = Stopwatch()
        time.sleep(1.2)
        wrapped = TlsSocket(plain.socket, client_context(authority))
        wrapped.sendall(asks)
        try:
            while wrapped.recv(1000):
                pass
        except OSError:
            pass
        assert 1.8 < watch.seconds < limit(2.7)


def test_handshakes_under_way_are_limited(authority, identity):
    with Origin(echo) as origin, proxy_for("relay", origin, identity, "--set", "tls.handshakes_max=3") as proxy:
        waiting = [Client(proxy.address) for _ in range(3)]
        for client in waiting:
            client.send(b"\x16")
        time.sleep(0.2)
        with Client(proxy.address) as client:
            client.expect_end(2)
        proxy.wait_log("reason=handshake_limit")
        for client in waiting:
            client.close()
        wait_until(lambda: _works(proxy, origin, authority), 3, "room again")


def _works(proxy, origin, authority):
    try:
        with open_tunnel("relay", proxy, origin, client_context(authority)) as client:
            client.send(b"x")
            return client.exactly(1) == b"x"
    except (OSError, AssertionError):
        return False


def test_B013_small_messages_are_not_held_up(authority, identity):
    """Without TCP_NODELAY small messages waited for delayed ACKs."""
    with Origin(echo) as origin, proxy_for("relay", origin, identity) as proxy:
        with open_tunnel("relay", proxy, origin, client_context(authority)) as client:
            times = []
            for _ in range(100):
                begin = time.monotonic()
                client.send(b"x" * 20)
                client.send(b"y" * 20)
                client.exactly(40)
                times.append(time.monotonic() - begin)
            assert sorted(times)[97] < limit(0.03), sorted(times)[-5:]
