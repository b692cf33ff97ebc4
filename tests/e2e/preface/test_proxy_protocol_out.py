"""PROXY protocol headers that upstreams get from relay and sni."""

import pytest

from harness import proxy as proxies
from harness import proxy_header as header
from harness import tls_hello as hello
from harness.client import Client
from harness.origin import Origin
from harness.proxy import Proxy

VERSIONS = ("v1", "v2")


def take_header(conn):
    """Reads the header in front of all else, keeps it, and echoes what follows."""
    conn.read_until(lambda data: _header_bytes(data))
    conn.header = header.read(bytes(conn.received))
    rest = bytes(conn.received[conn.header[4]:])
    conn.send(rest)
    while data := conn._receive():  # pylint: disable=protected-access
        conn.send(data)


def _header_bytes(data):
    """How long the header at the front is; 0: not whole."""
    if data.startswith(b"P"):
        return data.find(b"\r\n") + 2 if b"\r\n" in data else 0
    if len(data) < 16:
        return 0
    length = 16 + int.from_bytes(data[14:16], "big")
    return length if len(data) >= length else 0


@pytest.mark.parametrize("host", ("127.0.0.1", "::1"))
@pytest.mark.parametrize("version", VERSIONS)
def test_a_relay_tells_from_where_and_to_where(version, host):
    with Origin(take_header) as origin:
        listen = f"[{host}]:0" if ":" in host else f"{host}:0"
        with Proxy("relay", "--to", origin.authority, "--set", f"send_proxy_protocol={version}", listen=listen) as proxy:
            with Client(proxy.address) as client:
                client.send(b"payload")
                assert client.exactly(7) == b"payload"
                own, to = client.socket.getsockname()[:2], client.socket.getpeername()[:2]
            assert origin.connections[0].header[:4] == (int(version[1]), own, to, {})


@pytest.mark.parametrize("version", VERSIONS)
def test_the_header_does_not_wait_for_the_client(version):
    """Where the upstream speaks first, as with mail, it could not begin before."""
    def greets(conn):
        conn.read_until(lambda data: _header_bytes(data))
        conn.send(b"220 ready\r\n")

    with Origin(greets) as origin:
        with Proxy("relay", "--to", origin.authority, "--set", f"send_proxy_protocol={version}") as proxy:
            with Client(proxy.address) as client:
                assert client.read_until(b"\r\n") == b"220 ready\r\n"


@pytest.mark.parametrize("version", VERSIONS)
def test_a_unix_client_has_no_address_to_tell(tmp_path, version):
    with Origin(take_header) as origin:
        with Proxy("relay", "--to", origin.authority, "--set", f"send_proxy_protocol={version}",
                   listen=f"unix:{tmp_path}/hr") as proxy, Client(proxy.address) as client:
            client.send(b"payload")
            assert client.exactly(7) == b"payload"
            assert origin.connections[0].header[:4] == (int(version[1]), None, None, {})


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", (b"o.example.test", b"O.EXAMPLE.TEST.", None))
def test_sni_tells_the_name_as_the_client_gave_it(dns, version, name):
    data = hello.made(name) if name else hello.real(None)
    with Origin(take_header) as origin:
        with Proxy("sni", "--to-port", origin.port, "--to", origin.authority, *dns.options(), "--set",
                   f"send_proxy_protocol={version}", access_log=True) as proxy:
            with Client(proxy.address) as client:
                client.send(data)
                assert client.exactly(len(data)) == data
                own, to = client.socket.getsockname(), client.socket.getpeername()
            tlvs = {header.AUTHORITY: name} if name and version == "v2" else {}
            assert origin.connections[0].header[:4] == (int(version[1]), own, to, tlvs)
            # The header is ours, not the client's.
            assert int(proxy.wait_access_lines()[0]["up"]) == len(data)


@pytest.mark.parametrize("out", VERSIONS)
@pytest.mark.parametrize("make", (header.v1, header.v2))
@pytest.mark.parametrize("ends", ((("203.0.113.9", 4242), ("192.0.2.1", 443)), (("2001:db8::9", 1), ("2001:db8::1", 65535))))
def test_what_was_told_is_told_on(out, make, ends):
    with Origin(take_header) as origin:
        with Proxy("relay", "--to", origin.authority, "--set", "accept_proxy_protocol=127.0.0.1", "--set",
                   f"send_proxy_protocol={out}") as proxy, Client(proxy.address) as client:
            client.send(make(*ends) + b"payload")
            assert client.exactly(7) == b"payload"
            assert origin.connections[0].header[:4] == (int(out[1]), *ends, {})


@pytest.mark.parametrize("command", ("http", "socks", "mixed"))
def test_others_cannot_send_it(command):
    done = proxies.run(command, "127.0.0.1:0", "--set", "send_proxy_protocol=v2")
    assert done.returncode == 1 and "only relay and sni" in done.stderr, done
    assert proxies.run("relay", "127.0.0.1:0", "--to", "a:1", "--set", "send_proxy_protocol=v3").returncode == 1


def test_nothing_is_sent_by_default():
    with Origin(lambda conn: conn.read_to_end()) as origin:
        with Proxy("relay", "--to", origin.authority) as proxy, Client(proxy.address) as client:
            client.send(b"payload")
            client.fin()
            client.expect_end()
        assert bytes(origin.connections[0].received) == b"payload"
