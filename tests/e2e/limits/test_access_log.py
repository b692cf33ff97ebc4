"""The access log: one logfmt line per session, from which a reader gets the original values back."""

import base64
import contextlib
import os
import pathlib

import pytest

from harness import client as clients
from harness import logfmt
from harness.client import Client
from harness.origin import HttpOrigin, Origin, closed_port, echo, ok, payload
from harness.proxy import Proxy, run
from harness.tunnels import FRONTS, front

FIELDS = ("time", "listener", "protocol", "client", "target", "dialled", "up", "down", "duration", "result", "path",
          "worker")


def test_off_by_default():
    with Origin(echo) as origin, front("connect", origin) as via:
        with via.open() as client:
            client.send(b"x")
            client.exactly(1)
        assert not via.proxy.output_lines
    assert not any("target=" in line and "duration=" in line for line in via.proxy.log_lines)


def test_to_standard_output():
    with Origin(echo) as origin, front("connect", origin, "--access-log", "-") as via:
        with via.open() as client:
            client.send(b"x")
            client.exactly(1)
    assert [logfmt.parse_bytes(line.encode())["result"] for line in via.proxy.output_lines] == [b"ok"]


@pytest.mark.parametrize("splice", ("never", "always"))
@pytest.mark.parametrize("name", FRONTS)
def test_a_tunnels_line_tells_who_where_how_much_and_how(name, splice):
    def script(conn):
        conn.read_exactly(1000)
        conn.send(payload(500_000))
        conn.fin()
        conn.read_to_end()

    with Origin(script) as origin, front(name, origin, "--splice", splice, access_log=True) as via:
        with via.open() as client:
            source = client.socket.getsockname()
            client.send(payload(1000))
            assert client.hash_to_end()[0] == 500_000
        line = via.proxy.wait_access_lines(1)[0]
        for field in FIELDS:
            assert field in line, line
        assert line["client"] == "%s:%d" % source
        assert line["dialled"] == origin.authority
        assert line["target"] == origin.authority
        assert line["listener"] == via.proxy.listeners[0]["listener"]
        assert int(line["up"]) == 1000
        assert int(line["down"]) == 500_000
        assert line["result"] == "ok"
        assert line["path"] == {"never": "copy", "always": "splice"}[splice]
        assert 0 <= float(line["duration"]) < 10
        assert line["time"].startswith("20") and "T" in line["time"]


def test_a_name_stands_as_asked_beside_the_address_dialled(dns):
    with Origin(echo) as origin, Proxy("socks", "--user", "alice:pw", *dns.options(), access_log=True) as proxy:
        with Client(proxy.address) as client:
            assert clients.socks5(client, "O.Example.test", origin.port, user=("alice", "pw")).code == 0
        line = proxy.wait_access_lines(1)[0]
        assert line["target"].lower() == f"o.example.test:{origin.port}"
        assert line["dialled"] == origin.authority
        assert line["user"] == "alice"


def test_refusals_and_faults_have_their_reason(dns):
    with Proxy("http", *dns.options(), access_log=True) as proxy:
        reasons = []
        for host, port, reason in (("127.0.0.1", closed_port(), "connect_refused"),
                                   ("nowhere.example.test", 443, "name_unknown"),
                                   ("127.0.0.1", 25, "port_denied")):
            with Client(proxy.address) as client:
                assert clients.http_connect(client, host, port).status >= 400
            reasons.append(reason)
        assert sorted(line["result"] for line in proxy.wait_access_lines(3)) == sorted(reasons)


def test_a_relay_client_that_may_not_come_has_a_line():
    with Origin(echo) as origin:
        with Proxy("relay", "--to", origin.authority, "--allow", "192.0.2.1", access_log=True) as proxy:
            with Client(proxy.address) as client:
                client.expect_end()
            line = proxy.wait_access_lines()[0]
            assert line["result"] == "client_denied" and line["target"] == origin.authority
            assert "dialled" not in line and not origin.connections


def test_forward_requests_have_a_line_each():
    with HttpOrigin(lambda request: ok(b"x" * 10)) as origin, Proxy("http", access_log=True) as proxy:
        with Client(proxy.address) as client:
            for number in range(3):
                client.send(f"GET http://{origin.authority}/page{number} HTTP/1.1\r\nHost: {origin.authority}\r\n\r\n")
                assert client.response().status == 200
        lines = proxy.wait_access_lines(3)
        assert [line["status"] for line in lines] == ["200"] * 3
        assert [line["method"] for line in lines] == ["GET"] * 3


# ---- injection ----

def _all_log_bytes(proxy):
    return proxy.access_bytes() + proxy.log_text.encode("utf-8", "surrogateescape")


def _judge(proxy, count):
    """Every line is logfmt, there are as many as events, and none holds a control byte."""
    lines = proxy.wait_access_lines(count)
    assert len(lines) == count
    assert all(byte >= 0x20 or byte == 0x0A for byte in _all_log_bytes(proxy)), "control bytes in a log"
    assert max(map(len, proxy.access_bytes().split(b"\n"))) < 16384
    return lines


def test_B167_log_injection_by_http():
    """Decoded or raw control bytes made extra log lines or terminal codes."""
    with HttpOrigin(lambda request: ok(b"")) as origin, Proxy("http", "--log-level", "debug", access_log=True) as proxy:
        requests = [
            f"GET http://{origin.authority}/%0d%0aFAKE HTTP/1.1\r\nHost: {origin.authority}\r\n\r\n",
            f"GET http://{origin.authority}/ HTTP/1.1\r\nHost: {origin.authority}\r\n"
            f"User-Agent: \xff\xfe{'u' * 8000}\r\n\r\n",
            f"GET http://{origin.authority}/{'p' * 7000} HTTP/1.1\r\nHost: {origin.authority}\r\n\r\n",
            f"GET http://{origin.authority}/\"q\"\\ HTTP/1.1\r\nHost: {origin.authority}\r\n\r\n",
        ]
        for text in requests:
            with Client(proxy.address) as client:
                client.send(text)
                client.response()
        _judge(proxy, len(requests))
        assert b"FAKE" not in [line.strip()[:4] for line in _all_log_bytes(proxy).split(b"\n")]


def test_B167_log_injection_by_hosts_that_are_none():
    with Proxy("http", "--log-level", "debug", access_log=True) as proxy:
        for host in ("a\x1b[2Jb", "\xff\xfe", "h" * 8000, 'a"b', "a\\b", "a\x7fb"):
            with Client(proxy.address) as client:
                client.send(f"CONNECT {host}:443 HTTP/1.1\r\nHost: {host}:443\r\n\r\n")
                assert client.response(to="CONNECT").status in (400, 414, 431)
        assert all(byte >= 0x20 or byte == 0x0A for byte in _all_log_bytes(proxy))


def test_B167_log_injection_by_socks_domain():
    with Proxy("socks", "--log-level", "debug", access_log=True) as proxy:
        names = (b"a\nb\x1b[2J", b'quote" and = and \\', b"\xff\x00\x80", b"n" * 255)
        for name in names:
            with Client(proxy.address) as client:
                assert clients.socks5(client, name.decode("latin-1"), 443, as_domain=True).code != 0
        _judge(proxy, len(names))


def test_B167_log_injection_by_user_names():
    """A quote and a backslash in a user that exists come back unharmed; a forged line break makes no line."""
    name = 'al"ic\\e = x'
    with Origin(echo) as origin, Proxy("mixed", "--user", f"{name}:pw", "--log-level", "debug",
                                       access_log=True) as proxy:
        with Client(proxy.address) as client:
            assert clients.socks5(client, *origin.address, user=(name, "pw")).code == 0
        assert proxy.wait_access_lines(1)[0]["user"] == name
        for wrong in (b"a\r\nFAKE 200:pw", b"\x1b[2J:pw", b"\xff\xfe:pw"):
            with Client(proxy.address) as client:
                credentials = base64.b64encode(wrong).decode()
                response = clients.http_connect(client, *origin.address,
                                                f"Proxy-Authorization: Basic {credentials}")
                assert response.status in (400, 407)
            with Client(proxy.address) as client, contextlib.suppress(AssertionError):
                clients.socks5_greet(client, user=wrong.decode("latin-1").split(":"))
        assert all(byte >= 0x20 or byte == 0x0A for byte in _all_log_bytes(proxy))
        assert not [line for line in _all_log_bytes(proxy).split(b"\n") if line.startswith(b"FAKE")]
        for line in proxy.access_bytes().splitlines():
            logfmt.parse_bytes(line)


# ---- a log that cannot keep up ----

def test_a_log_reader_that_stalls_never_stops_traffic(tmp_path):
    """The log is a FIFO that nobody reads: lines are dropped, sessions go on."""
    fifo = tmp_path / "log"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with Origin(echo) as origin, front("connect", origin, "--access-log", fifo) as via:
            for _ in range(1500):
                with via.open() as client:
                    client.send(b"x")
                    assert client.exactly(1) == b"x"
            via.proxy.assert_cpu_quiet(1)
    finally:
        os.close(reader)


def test_a_fifo_that_nobody_reads_is_told_at_the_start(tmp_path):
    """Opening it waited for a reader, and the program neither listened nor said why."""
    fifo = tmp_path / "log"
    os.mkfifo(fifo)
    done = run("http", "127.0.0.1:0", "--access-log", fifo)
    assert done.returncode == 1
    assert f"cannot open the access log {fifo}: nobody reads it" in done.stderr


def test_lines_are_appended_to_a_file_that_exists(tmp_path):
    log = pathlib.Path(tmp_path / "access.log")
    log.write_text("old=line\n", encoding="ascii")
    with Origin(echo) as origin, front("connect", origin, "--access-log", log) as via:
        with via.open() as client:
            client.send(b"x")
            client.exactly(1)
    lines = log.read_text(encoding="ascii").splitlines()
    assert lines[0] == "old=line" and len(lines) == 2
