"""The harness tried against itself, so that a failing test speaks of the proxy."""

import socket
import struct

import pytest

from harness import dns as names
from harness import logfmt
from harness.client import Client, Ended
from harness.dns import DnsServer
from harness.netns import TwoHosts
from harness.origin import Close, HttpOrigin, Origin, Reset, echo, ok, payload, sha256, sink, source


def test_echo_returns_bytes_and_the_end():
    with Origin(echo) as origin, Client(origin.address) as client:
        client.segments("ab|cd", gap=0.01)
        client.fin()
        assert client.to_end() == b"abcd"
        assert client.ended == "eof"
        assert bytes(origin.connections[0].received) == b""
        assert origin.connections[0].received_bytes == 4


def test_sink_and_source_hash():
    data = payload(100_000)
    with Origin(sink) as origin, Client(origin.address) as client:
        client.send(data)
        client.fin()
        assert client.to_end().decode() == f"100000 {sha256(data)}"
    with Origin(source(100_000)) as origin, Client(origin.address) as client:
        assert client.hash_to_end() == (100_000, sha256(data))


def test_reset_is_told_from_an_end():
    def script(conn):
        conn.read_until(b"go")
        conn.reset()
    with Origin(script) as origin, Client(origin.address) as client:
        client.send(b"go")
        client.expect_end(how="reset")
    with Origin(lambda conn: conn.read_to_end()) as origin:
        with Client(origin.address) as client:
            client.send(b"x")
            origin.wait_connection().wait_received(1)
            client.reset()
        assert origin.connections[0].wait_ended() == "reset"


def test_a_failing_script_fails_the_test():
    def script(conn):
        raise ValueError("mine")
    with pytest.raises(AssertionError):
        with Origin(script) as origin, Client(origin.address) as client:
            client.to_end()
            origin.connections[0].done.wait(2)


def test_http_origin_and_response_reader():
    def answer(request):
        return {
            "/length": ok(b"hello"),
            "/chunked": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n0\r\nX-T: 1\r\n\r\n",
            "/cut": Close(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel"),
            "/reset": Reset(b"HTTP/1.1 200 OK\r\n\r\nhel"),
            "/close": Close(b"HTTP/1.1 200 OK\r\n\r\nhello"),
        }[request.target]
    with HttpOrigin(answer) as origin:
        with Client(origin.address) as client:
            client.send("POST /length HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc")
            response = client.response()
            assert (response.status, response.body, response.framing) == (200, b"hello", "length")
            client.send("POST /chunked HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-R: 2\r\n\r\n")
            response = client.response()
            assert (response.body, response.trailers, response.chunks) == (b"hello", [("X-T", "1")], [5])
        assert [r.body for r in origin.requests] == [b"abc", b"abc"]
        assert origin.requests[1].trailers == [("X-R", "2")]
        for path, clean in (("/cut", False), ("/reset", False), ("/close", True)):
            with Client(origin.address) as client:
                client.send(f"GET {path} HTTP/1.1\r\n\r\n")
                assert client.response().clean is clean, path


def test_the_response_reader_is_strict():
    for answer in (b"HTTP/1.1 200 OK\n\n", b"HTTP/1.1 200 OK\r\nA : b\r\n\r\n", b"HTTP/1.1 200 OK\r\nA: b\x01\r\n\r\n",
                   b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"):
        def script(conn, answer=answer):
            conn.send(answer)
            conn.fin()
        with Origin(script) as origin, Client(origin.address) as client, pytest.raises(AssertionError):
            client.response()


def test_reading_past_the_end_is_an_error():
    with Origin(source(3)) as origin, Client(origin.address) as client:
        with pytest.raises(Ended):
            client.exactly(4)


def _ask(server, name, kind, identity=7):
    query = struct.pack("!HHHHHH", identity, 0x0100, 1, 0, 0, 0) + names.encode_name(name) + struct.pack("!HH", kind, 1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.settimeout(2)
        sock.sendto(query, (server.host, server.port))
        return sock.recv(4096), query


def test_dns_answers_by_its_table():
    with DnsServer() as server:
        server.add("o.example.test", "127.0.0.1", "::1")
        answer, _ = _ask(server, "O.example.test", names.A)
        assert answer[:2] == b"\0\x07" and answer[-4:] == b"\x7f\0\0\1" and answer[7] == 1
        answer, _ = _ask(server, "o.example.test", names.AAAA)
        assert answer[-16:] == socket.inet_pton(socket.AF_INET6, "::1")
        answer, _ = _ask(server, "no.example.test", names.A)
        assert answer[3] & 15 == names.NXDOMAIN
        assert [q.name for q in server.queries][:2] == ["O.example.test", "o.example.test"]


def test_dns_behaviours_and_tcp():
    with DnsServer() as server:
        server.on("o.example.test", names.in_turn(names.servfail, lambda q: names.reply(q, ["127.0.0.1"])), names.A)
        assert _ask(server, "o.example.test", names.A)[0][3] & 15 == names.SERVFAIL
        assert _ask(server, "o.example.test", names.A)[0][7] == 1
        _, query = _ask(server, "o.example.test", names.A)
        with Client((server.host, server.port)) as client:
            client.send(struct.pack("!H", len(query)) + query)
            size = struct.unpack("!H", client.exactly(2))[0]
            assert client.exactly(size)[7] == 1
        assert server.queries[-1].over == "tcp"


def test_logfmt_gets_the_original_back():
    line = rb'time=2024-01-01T00:00:00Z user="a\r\nFAKE 200" path="/x \"q\" \\ \x1b[2J" n=1 empty='
    assert logfmt.parse(line) == {"time": "2024-01-01T00:00:00Z", "user": "a\r\nFAKE 200", "n": "1", "empty": "",
                                  "path": '/x "q" \\ \x1b[2J'}
    for bad in (b"a=1 a=2", b"free text", b'a="open', b"a=x\x01\"y"):
        with pytest.raises(ValueError):
            logfmt.parse(bad)


def test_two_hosts_reach_each_other():
    with TwoHosts() as net:
        for inside, outside in ((net.inside_v4, net.outside_v4), (net.inside_v6, net.outside_v6)):
            with Origin(echo, host=inside, netns=net.inside) as origin:
                with Client(origin.address, netns=net.outside) as client:
                    client.send(b"hi")
                    assert client.exactly(2) == b"hi"
                assert origin.connections[0].peer[0] == outside
        net.add_outside("198.51.100.7")
        with Origin(echo, host="198.51.100.7", netns=net.outside) as origin:
            with Client(origin.address, netns=net.inside) as client:
                client.send(b"hi")
                assert client.exactly(2) == b"hi"
        net.add_unreachable("203.0.113.1")
        with pytest.raises(OSError):
            Client(("203.0.113.1", 80), netns=net.inside)
        net.add_black_hole("203.0.113.2")
        with pytest.raises(TimeoutError):
            Client(("203.0.113.2", 80), netns=net.inside, timeout=0.3)
