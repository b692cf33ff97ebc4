"""The inside guard: clients that are not on loopback do not get to inside addresses, in any spelling."""

import socket

import pytest

from harness import client as clients
from harness.client import Client
from harness.dns import DnsServer
from harness.origin import HttpOrigin, Origin, echo, ok
from harness.proxy import Proxy

LOOPBACK = ("127.0.0.1", "127.1", "2130706433", "0x7f.0.0.1", "0x7f000001", "0177.0.0.1", "017700000001",
            "127.0.0.2", "127.255.255.254", "[::1]", "[0:0:0:0:0:0:0:1]")
UNSPECIFIED = ("0.0.0.0", "0", "[::]", "0.0.0.1")
WRAPPED = ("[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::ffff:a9fe:a9fe]", "[64:ff9b::7f00:1]", "[64:ff9b::127.0.0.1]",
           "[::127.0.0.1]", "[2002:7f00:1::]", "[::ffff:0.0.0.0]", "[::ffff:10.1.2.3]")
LINK_LOCAL = ("169.254.169.254", "[fe80::1]", "0xa9fea9fe", "2852039166")
PRIVATE = ("10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "[fd00::1]", "[fc00::1]",
           "0xa010203")
OTHER = ("224.0.0.1", "239.1.2.3", "255.255.255.255", "[ff02::1]")
ALL = LOOPBACK + UNSPECIFIED + WRAPPED + LINK_LOCAL + PRIVATE + OTHER

PORT = 8443  # one of connect_ports


class Setting:
    """A proxy on a public address, a client outside, and origins on every inside address."""

    def __init__(self, net, *options, command="mixed"):
        self.net = net
        self.inside_origin = Origin(echo, host="", port=PORT, netns=net.inside)
        self.dns = DnsServer(netns=net.inside)
        for address in ("10.1.2.3", "fd00::1"):
            net.inside.ip("addr", "add", address, "dev", "lo")
        self.proxy = Proxy(command, "--open", *self.dns.options(), *options, "--set", "connect_timeout=2s",
                           listen=f"{net.inside_v4}:0", netns=net.inside)

    def __enter__(self):
        self.proxy.start()
        return self

    def __exit__(self, *details):
        try:
            return self.proxy.__exit__(*details)
        finally:
            self.inside_origin.close()
            self.dns.close()

    def client(self):
        return Client(self.proxy.address, netns=self.net.outside)

    def connect(self, host, port=PORT):
        with self.client() as client:
            authority = f"{host}:{port}"
            client.send(f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n")
            return client.response(to="CONNECT")

    def get(self, host, port=PORT):
        with self.client() as client:
            client.send(f"GET http://{host}:{port}/ HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n")
            return client.response()

    def socks5(self, host, port=PORT, as_domain=False):
        with self.client() as client:
            return clients.socks5(client, host.strip("[]"), port, as_domain=as_domain)

    def socks4(self, host, port=PORT):
        with self.client() as client:
            return clients.socks4(client, host, port)

    def nothing_was_sent(self):
        assert not self.inside_origin.connections, self.inside_origin.connections[0].peer


@pytest.fixture
def setting(two_hosts):
    with Setting(two_hosts) as made:
        yield made


def _is_address(host):
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.inet_pton(family, host.strip("[]"))
            return True
        except OSError:
            pass
    return False


def test_B148_spellings_by_connect(setting):
    """::ffff:, 0.0.0.0 and number forms escaped the deny list."""
    got = {host: setting.connect(host).status for host in ALL}
    assert {host: status for host, status in got.items() if status != 403} == {}
    setting.nothing_was_sent()


def test_B148_spellings_by_get(setting):
    got = {host: setting.get(host).status for host in ALL}
    assert {host: status for host, status in got.items() if status != 403} == {}
    setting.nothing_was_sent()


def test_B148_spellings_by_socks5_address(setting):
    got = {host: setting.socks5(host).code for host in ALL if _is_address(host)}
    assert len(got) > 20
    assert {host: code for host, code in got.items() if code != 2} == {}
    setting.nothing_was_sent()


def test_B148_spellings_by_socks5_domain(setting):
    got = {host: setting.socks5(host, as_domain=True).code for host in ALL}
    assert {host: code for host, code in got.items() if code != 2} == {}
    setting.nothing_was_sent()
    assert not setting.dns.queries


def test_B148_spellings_by_socks4(setting):
    four = [host for host in ALL if _is_address(host) and ":" not in host and not host.startswith("0.0.0")]
    for host in (*four, *(f"{host}" for host in ALL if not _is_address(host))):
        assert setting.socks4(host)[1] == 0x5B, host
    setting.nothing_was_sent()
    assert not setting.dns.queries


@pytest.mark.parametrize("address", ("127.0.0.1", "::1", "169.254.169.254", "0.0.0.0", "10.1.2.3", "fd00::1",
                                     "::ffff:127.0.0.1", "64:ff9b::7f00:1"))
def test_B148_names_that_resolve_to_the_inside(address, setting):
    """Judged after resolution, on the very address that would be dialled (DNS rebinding)."""
    setting.dns.add("inside.example.test", address)
    assert setting.connect("inside.example.test").status == 403
    assert setting.get("inside.example.test").status == 403
    assert setting.socks5("inside.example.test").code == 2
    assert setting.socks4("inside.example.test")[1] == 0x5B
    setting.nothing_was_sent()


def test_a_name_with_an_inside_and_an_outside_address_goes_outside(setting):
    net = setting.net
    with Origin(echo, host=net.outside_v4, port=PORT, netns=net.outside) as outside:
        setting.dns.add("both.example.test", "127.0.0.1", net.outside_v4)
        with setting.client() as client:
            assert clients.http_connect(client, "both.example.test", PORT).status == 200
            client.send(b"x")
            assert client.exactly(1) == b"x"
        assert len(outside.connections) == 1
    setting.nothing_was_sent()


def test_outside_addresses_are_open(setting):
    """The control of this file: the same set-up reaches what is not inside."""
    net = setting.net
    for host in (net.outside_v4, net.outside_v6):
        with HttpOrigin(lambda request: ok(b"outside"), host=host, port=PORT, netns=net.outside):
            name = f"[{host}]" if ":" in host else host
            assert setting.connect(name).status == 200
            assert setting.get(name).body == b"outside"
            assert setting.socks5(host).code == 0


def test_the_proxys_own_addresses_are_inside(setting):
    net = setting.net
    port = setting.proxy.port
    for host in (net.inside_v4, f"[::ffff:{net.inside_v4}]"):
        assert setting.connect(host, port).status in (403, 508), host
        assert setting.get(host, port).status in (403, 508), host
        assert setting.socks5(host, port).code == 2, host


def test_allow_private_opens_private_ranges_only(two_hosts):
    with Setting(two_hosts, "--allow-private") as setting:
        assert setting.connect("10.1.2.3").status == 200
        assert setting.socks5("fd00::1").code == 0
        setting.inside_origin.wait_connection(1)
        for host in LOOPBACK + UNSPECIFIED + LINK_LOCAL + OTHER + WRAPPED[:8]:
            assert setting.connect(host).status == 403, host
        assert len(setting.inside_origin.connections) == 2


def test_clients_on_loopback_may_go_inside():
    with Origin(echo) as origin, Proxy("mixed") as proxy, Client(proxy.address) as client:
        assert clients.http_connect(client, *origin.address).status == 200


def test_a_relays_destination_is_the_operators_word(two_hosts):
    net = two_hosts
    with Origin(echo, netns=net.inside) as origin:
        with Proxy("relay", "--to", origin.authority, listen=f"{net.inside_v4}:0", netns=net.inside) as proxy:
            with Client(proxy.address, netns=net.outside) as client:
                client.send(b"x")
                assert client.exactly(1) == b"x"
