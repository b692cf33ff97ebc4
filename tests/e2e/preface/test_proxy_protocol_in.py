"""PROXY protocol headers from proxies in front: who may send them, what they say, and what they change."""

import contextlib

import pytest

from harness import client as clients
from harness import proxy as proxies
from harness import proxy_header as header
from harness import tls_hello as hello
from harness.client import Client
from harness.origin import HttpOrigin, Origin, echo, ok
from harness.proxy import Proxy
from harness.timing import Stopwatch, limit

# The client that headers tell of: on this host, so that it may go to origins on loopback.
TOLD, TOLD_TO = ("127.0.0.77", 4242), ("127.0.0.99", 443)
HEADERS = {"v1": header.v1(TOLD, TOLD_TO), "v2": header.v2(TOLD, TOLD_TO),
           "v2 with TLVs": header.v2(TOLD, TOLD_TO, header.tlv(1, b"h2") + header.tlv(0xE0, b"x" * 3000))}
ACCEPT = ("--set", "accept_proxy_protocol=127.0.0.1, 192.0.2.0/24")


# ---- in front of every protocol ----

def _request(command, origin):
    """(what a client sends at once, what comes back) through each front end."""
    ping = b"ping"
    connect = clients.connect_head(*origin.address)
    socks = b"\x05\x01\0" + b"\x05\x01\0\x01" + bytes([127, 0, 0, 1]) + origin.port.to_bytes(2, "big")
    sent = {"relay": ping, "http": connect + ping, "mixed http": connect + ping, "socks": socks + ping,
            "mixed socks": socks + ping, "sni": hello.made(b"o.example.test"),
            "sni default": hello.real(None)}[command]
    return sent, sent if command.startswith("sni") else ping


FRONTS = ("relay", "http", "mixed http", "socks", "mixed socks", "sni", "sni default")


@contextlib.contextmanager
def _front(command, origin, dns, *options):
    extra = {"relay": ("--to", origin.authority), "sni": ("--to-port", origin.port),
             "sni default": ("--to", origin.authority)}.get(command, ())
    with Proxy(command.split()[0], *extra, *dns.options(), *ACCEPT, "--allow", TOLD[0], *options,
               access_log=True) as proxy:
        yield proxy


@pytest.mark.parametrize("segments", ("one", "bytes", "behind the header"))
@pytest.mark.parametrize("which", HEADERS)
@pytest.mark.parametrize("command", FRONTS)
def test_B192_payload_behind_the_header_is_not_lost(dns, command, which, segments):
    """Bytes in the same read as the header were lost."""
    with Origin(echo) as origin, _front(command, origin, dns) as proxy, Client(proxy.address) as client:
        request, answer = _request(command, origin)
        data = HEADERS[which] + request
        if segments == "one":
            client.send(data)
        elif segments == "bytes":
            client.segments([data[at:at + 1] for at in range(min(len(data), 300))] + [data[300:]], gap=0.0005)
        else:
            client.segments([HEADERS[which], request])
        client.read_until(answer)
        client.close()
        line = proxy.wait_access_lines()[0]
        assert (line["client"], line["result"]) == ("127.0.0.77:4242", "ok")


def test_a_kept_http_connection_has_one_header():
    with HttpOrigin(lambda request: ok(b"in")) as origin, Proxy("http", *ACCEPT, "--open", access_log=True) as proxy:
        with Client(proxy.address) as client:
            request = f"GET http://{origin.authority}/ HTTP/1.1\r\nHost: {origin.authority}\r\n\r\n".encode()
            client.send(HEADERS["v1"] + request + request)
            for _ in range(2):
                assert client.response().body == b"in"
            client.send(request)
            assert client.response().body == b"in"
        assert [line["client"] for line in proxy.wait_access_lines(3)] == ["127.0.0.77:4242"] * 3
        assert not [f for r in origin.requests for f in r.fields if "forwarded" in f[0].lower()]


@pytest.mark.parametrize("data", (b"PROXY UNKNOWN\r\n", b"PROXY UNKNOWN 192.0.2.7 rubbish\r\n", header.v2(command=header.LOCAL),
                                  header.v2(TOLD, TOLD_TO, command=header.LOCAL), header.v2()))
def test_B192_without_addresses_the_connections_own_count(data):
    with Origin(echo) as origin, Proxy("relay", "--to", origin.authority, *ACCEPT, access_log=True) as proxy:
        with Client(proxy.address) as client:
            client.send(data + b"x")
            assert client.exactly(1) == b"x"
            own = "%s:%d" % client.socket.getsockname()
        assert proxy.wait_access_lines()[0]["client"] == own


def test_ipv6_and_mapped_addresses():
    with Origin(echo) as origin, Proxy("relay", "--to", origin.authority, *ACCEPT, access_log=True) as proxy:
        for number, (source, shown) in enumerate((("2001:db8::7", "[2001:db8::7]:1"), ("::ffff:192.0.2.7", "192.0.2.7:1"))):
            for data in (header.v1((source, 1), ("::1", 2)), header.v2((source, 1), ("::1", 2))):
                with Client(proxy.address) as client:
                    client.send(data + b"x")
                    assert client.exactly(1) == b"x"
            assert {line["client"] for line in proxy.wait_access_lines(2 * number + 2)[-2:]} == {shown}


# ---- what is refused ----

BROKEN = {"no header": b"GET / HTTP/1.1\r\n\r\n", "a hello": hello.real("o.example.test"), "a byte": b"\x05",
          "LF only": b"PROXY UNKNOWN\n", "a bad address": b"PROXY TCP4 127.0.0.077 127.0.0.1 1 2\r\n",
          "too long": b"PROXY UNKNOWN " + b"x" * 100, "a bad version": header.SIGNATURE + b"\x11",
          "a short block": header.SIGNATURE + b"\x21\x11\0\x04abcd",
          "a wrong checksum": header.v2(TOLD, TOLD_TO, header.tlv(header.CRC32C, b"abcd"))}


@pytest.mark.parametrize("command", ("relay", "mixed"))
@pytest.mark.parametrize("which", BROKEN)
def test_what_is_no_header_is_refused_before_anything_else(command, which):
    with Origin(echo) as origin:
        options = ("--to", origin.authority) if command == "relay" else ("--open",)
        with Proxy(command, *ACCEPT, *options) as proxy, Client(proxy.address) as client:
            client.send(BROKEN[which])
            client.expect_end(how="reset")
            proxy.wait_log("event=refused reason=malformed side=client .*protocol=proxy_protocol")
            assert not origin.connections


def test_a_header_beyond_its_limit_is_refused():
    with Origin(echo) as origin, Proxy("relay", "--to", origin.authority, *ACCEPT) as proxy:
        with Client(proxy.address) as client:
            client.send(header.v2(TOLD, TOLD_TO, header.tlv(4, bytes(20_000))))
            client.expect_end(how="reset")
            proxy.wait_log("event=refused reason=too_large")


@pytest.mark.parametrize("data", (b"", b"PROXY TCP4 ", header.SIGNATURE))
def test_a_header_has_its_deadline(data):
    """Nothing is dialled before it is there; an end or a reset in the middle leaves nothing."""
    with Origin(echo) as origin:
        with Proxy("relay", "--to", origin.authority, *ACCEPT, "--set", "setup_timeout=1s") as proxy:
            with proxy.keeps_base_fds(), Client(proxy.address) as client:
                watch = Stopwatch()
                client.send(data)
                client.expect_end(seconds=3, how="reset")
                assert 0.8 < watch.seconds < limit(2.5)
                with Client(proxy.address) as leaving:
                    leaving.send(data)
                    leaving.fin()
                    leaving.expect_end()
            assert not origin.connections


def test_who_is_not_named_is_refused_header_or_not():
    """Nothing is guessed: who may not send a header is not served without one either."""
    with Origin(echo) as origin:
        with Proxy("relay", "--to", origin.authority, "--set", "accept_proxy_protocol=192.0.2.0/24") as proxy:
            for data in (HEADERS["v1"], HEADERS["v2"], b"plain"):
                with Client(proxy.address) as client:
                    with contextlib.suppress(ConnectionResetError, BrokenPipeError):
                        client.send(data)
                    client.expect_end(how="reset")
            proxy.wait_log("event=refused reason=client_denied .*client=127.0.0.1")
            assert not origin.connections


def test_without_the_option_a_header_is_no_header():
    with Origin(echo) as origin, Proxy("relay", "--to", origin.authority, access_log=True) as proxy:
        with Client(proxy.address) as client:
            client.send(HEADERS["v1"])
            assert client.exactly(len(HEADERS["v1"])) == HEADERS["v1"]
        assert proxy.wait_access_lines()[0]["client"].startswith("127.0.0.1:")


# ---- rules and the inside ----

def _connect(proxy, origin, told, **client_options):
    with Client(proxy.address, **client_options) as client:
        client.send(header.v1((told, 1), ("192.0.2.1", 2)) + clients.connect_head(*origin.address))
        return client.response(to="CONNECT").status


def test_rules_judge_the_client_that_the_header_tells_of():
    with Origin(echo) as origin, Proxy("http", *ACCEPT, "--allow", "127.0.0.8/29") as proxy:
        assert _connect(proxy, origin, "127.0.0.9") == 200
        assert _connect(proxy, origin, "127.0.0.1") == 403


def test_the_inside_is_closed_to_clients_that_the_header_tells_of():
    with Origin(echo) as origin, Proxy("http", *ACCEPT, "--open") as proxy:
        assert _connect(proxy, origin, "203.0.113.9") == 403
        proxy.wait_log("event=refused reason=inside_denied .*client=203.0.113.9:1")
        assert _connect(proxy, origin, "127.0.0.9") == 200


def test_the_loopback_of_another_host_is_not_ours(two_hosts):
    """A header from elsewhere that says 127.0.0.1 does not open what only this host may reach."""
    net = two_hosts
    with Origin(echo, netns=net.inside) as origin:
        with Proxy("http", "--open", "--set", "accept_proxy_protocol=192.0.2.2", listen=f"{net.inside_v4}:0",
                   netns=net.inside) as proxy:
            assert _connect(proxy, origin, "127.0.0.1", netns=net.outside) == 403
            proxy.wait_log("event=refused reason=inside_denied")


@pytest.mark.parametrize("listen", ("127.0.0.1:0", "unix:@headrace-accept"))
@pytest.mark.parametrize("command", ("http", "socks", "mixed", "sni"))
def test_behind_a_proxy_loopback_is_no_reason_to_be_open(command, listen):
    """Who can reach the proxy in front reaches this one."""
    done = proxies.run(command, listen, *ACCEPT)
    assert done.returncode == 1, done
    assert "accept_proxy_protocol" in done.stderr and "--allow" in done.stderr, done.stderr
    with Proxy(command, *ACCEPT, "--allow", "192.0.2.0/24", listen=listen) as proxy:
        assert proxy.address


def test_clients_of_a_unix_socket_send_headers_as_well(tmp_path):
    with Origin(echo) as origin:
        with Proxy("relay", "--to", origin.authority, *ACCEPT, listen=f"unix:{tmp_path}/hr", access_log=True) as proxy:
            for data, shown in ((HEADERS["v2"], "127.0.0.77:4242"), (header.v2(command=header.LOCAL), "unix")):
                with Client(proxy.address) as client:
                    client.send(data + b"x")
                    assert client.exactly(1) == b"x"
            with Client(proxy.address) as client:
                client.send(b"no header")
                client.expect_end()
            assert {line["client"] for line in proxy.wait_access_lines(2)} == {"127.0.0.77:4242", "unix"}


@pytest.mark.parametrize("value", ("127.0.0.1/8", "localhost", "", "off, 127.0.0.1", "127.0.0.1,"))
def test_bad_networks_are_told(value):
    done = proxies.run("http", "127.0.0.1:0", "--set", f"accept_proxy_protocol={value}")
    assert done.returncode == 1 and "accept_proxy_protocol" in done.stderr, done
