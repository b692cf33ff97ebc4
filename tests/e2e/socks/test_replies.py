"""SOCKS replies: codes, bound addresses, SOCKS4."""

import socket
import struct

import pytest

from harness import client as clients
from harness import dns as names
from harness.client import Client
from harness.origin import BlackHole, Origin, closed_port, echo
from harness.proxy import Proxy
from harness.timing import Stopwatch, limit


def _reply(proxy, host, port, **more):
    """The reply to one request; the refused connection must then end."""
    with Client(proxy.address, **more) as client:
        reply = clients.socks5(client, host, port)
        if reply.code != 0:
            client.expect_end()
        return reply


def test_B120_reply_codes_of_connect_faults(dns):
    """Everything was 01, or a failure came as 00."""
    with BlackHole() as hole, Proxy("socks", *dns.options(), "--set", "connect_timeout=1s") as proxy:
        assert _reply(proxy, "127.0.0.1", closed_port()).code == 5
        assert _reply(proxy, "o.example.test", closed_port()).code == 5
        assert _reply(proxy, "nowhere.example.test", 443).code == 4
        watch = Stopwatch()
        assert _reply(proxy, *hole.address).code in (4, 6)
        assert 0.8 < watch.seconds < limit(2)


def test_B120_reply_codes_of_unreachable_networks(two_hosts):
    """No route, an ICMP error from the next host, and a destination without a usable family."""
    net = two_hosts
    net.add_unreachable("203.0.113.1")                       # EHOSTUNREACH at once
    net.inside.ip("route", "add", "203.0.113.2", "via", net.outside_v4)
    net.outside.sysctl("net.ipv4.ip_forward", 1)
    net.outside.ip("route", "add", "unreachable", "203.0.113.2")  # ICMP host unreachable
    with Proxy("socks", "--open", "--set", "connect_timeout=3s", listen=f"{net.inside_v4}:0",
               netns=net.inside) as proxy:
        assert _reply(proxy, "203.0.113.1", 443, netns=net.outside).code == 4
        watch = Stopwatch()
        assert _reply(proxy, "203.0.113.2", 443, netns=net.outside).code in (3, 4)
        assert watch.seconds < limit(2), "an ICMP error was waited out"
        assert _reply(proxy, "203.0.113.9", 443, netns=net.outside).code == 3  # ENETUNREACH: no route at all
        net.inside.ip("-6", "route", "flush", "2001:db8::/64")
        assert _reply(proxy, "2001:db8:7::1", 443, netns=net.outside).code in (3, 4)


def test_B120_an_ipv6_target_without_ipv6(two_hosts):
    net = two_hosts
    net.inside.sysctl("net.ipv6.conf.all.disable_ipv6", 1)
    with Proxy("socks", "--open", listen=f"{net.inside_v4}:0", netns=net.inside) as proxy:
        assert _reply(proxy, "2001:db8:7::1", 443, netns=net.outside).code in (3, 4)


def test_B120_reply_code_of_a_refusal_by_rule(two_hosts):
    net = two_hosts
    with Proxy("socks", "--open", listen=f"{net.inside_v4}:0", netns=net.inside) as proxy:
        for host in ("127.0.0.1", "::1", "10.0.0.1", "169.254.169.254"):
            assert _reply(proxy, host, 443, netns=net.outside).code == 2


@pytest.mark.parametrize("request_bytes, code", (
    (b"\x05\x02\x00\x01\x7f\x00\x00\x01\x00\x50", 7),   # BIND, until its issue
    (b"\x05\x03\x00\x01\x00\x00\x00\x00\x00\x00", 7),   # UDP ASSOCIATE, until its issue
    (b"\x05\x09\x00\x01\x7f\x00\x00\x01\x00\x50", 7),
    (b"\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x50", 7),
    (b"\x05\x01\x00\x02\x7f\x00\x00\x01\x00\x50", 8),
    (b"\x05\x01\x00\x00\x7f\x00\x00\x01\x00\x50", 8),
    (b"\x05\x01\x00\xff\x7f\x00\x00\x01\x00\x50", 8),
))
def test_B120_reply_codes_of_requests_that_are_not_offered(request_bytes, code):
    with Proxy("socks") as proxy, Client(proxy.address) as client:
        clients.socks5_greet(client)
        client.send(request_bytes)
        assert clients.read_socks5_reply(client).code == code
        client.expect_end()


def test_B120_reply_codes_of_name_server_faults(dns):
    dns.on("servfail.example.test", names.servfail)
    dns.on("silent.example.test", names.silent)
    dns.on("empty.example.test", names.no_data)
    dns.on("refused.example.test", names.refused)
    with Proxy("socks", *dns.options(), "--set", "dns_timeout=1s") as proxy:
        for host in ("servfail.example.test", "empty.example.test", "refused.example.test"):
            assert _reply(proxy, host, 443).code in (1, 4), host
        watch = Stopwatch()
        assert _reply(proxy, "silent.example.test", 443).code in (1, 4, 6)
        assert 0.8 < watch.seconds < limit(2.5)


def test_port_0_is_refused():
    with Proxy("socks") as proxy:
        assert _reply(proxy, "127.0.0.1", 0).code != 0


@pytest.mark.parametrize("command", ("socks", "mixed"))
@pytest.mark.parametrize("host", ("127.0.0.1", "::1"))
def test_B122_bound_address_of_connect(host, command):
    """Zeros, the target's address or the wrong family were given."""
    with Origin(echo, host=host) as origin, Proxy(command) as proxy, Client(proxy.address) as client:
        reply = clients.socks5(client, *origin.address)
        assert reply.code == 0
        assert (reply.host, reply.port) == origin.wait_connection().peer[:2]
        assert len(reply.raw) == (22 if ":" in host else 10)
        client.send(b"x")
        assert client.exactly(1) == b"x"


def test_B122_bound_address_with_a_configured_source():
    with Origin(echo) as origin, Proxy("socks", "--set", "source=127.0.0.5") as proxy:
        with Client(proxy.address) as client:
            reply = clients.socks5(client, *origin.address)
            assert (reply.code, reply.host) == (0, "127.0.0.5")
            assert (reply.host, reply.port) == origin.wait_connection().peer


def test_replies_of_failures_have_a_zero_ipv4_address():
    """RFC 1928 leaves it open; clients read ten bytes."""
    with Proxy("socks") as proxy:
        reply = _reply(proxy, "127.0.0.1", closed_port())
        assert reply.raw == b"\x05\x05\x00\x01" + bytes(6)


@pytest.mark.parametrize("command", ("socks", "mixed"))
@pytest.mark.parametrize("address", (b"\x00\x00\x00\x01", b"\x00\x00\x00\xff"))
def test_B124_socks4a_names(address, command, dns):
    """4a names were cut at segment borders. Byte by byte, reply bytes checked."""
    with Origin(echo) as origin, Proxy(command, *dns.options()) as proxy, Client(proxy.address) as client:
        client.byte_by_byte(b"\x04\x01" + struct.pack("!H", origin.port) + address + b"user\0o.example.test\0",
                            gap=0.005)
        reply = client.exactly(8)
        assert reply[:2] == b"\x00\x5a"
        client.send(b"payload")
        assert client.exactly(7) == b"payload"
        assert dns.queries_for("o.example.test")


def test_B124_0_0_0_0_is_an_ordinary_invalid_address(dns):
    """0.0.0.0 was taken as 4a, and a name waited for."""
    with Proxy("socks", *dns.options()) as proxy, Client(proxy.address) as client:
        client.send(b"\x04\x01\x00\x50\x00\x00\x00\x00user\0")
        client.expect_end(after=b"\x00\x5b" + bytes(6))
        assert not dns.queries


@pytest.mark.parametrize("command_byte", (2, 3, 0, 255))
def test_B124_bind_and_unknown_commands(command_byte):
    with Proxy("socks") as proxy, Client(proxy.address) as client:
        client.send(clients.socks4_request("127.0.0.1", 80, command=command_byte))
        reply = clients.read_socks4_reply(client)
        assert reply[1] == 0x5B
        client.expect_end()


def test_socks4_reply_codes(dns):
    with BlackHole() as hole, Proxy("socks", *dns.options(), "--set", "connect_timeout=1s") as proxy:
        for host, port in (("127.0.0.1", closed_port()), ("nowhere.example.test", 443), hole.address):
            with Client(proxy.address) as client:
                reply = clients.socks4(client, host, port)
                assert reply == b"\x00\x5b" + bytes(6)
                client.expect_end()


@pytest.mark.parametrize("part", ("user", "name"))
def test_socks4_strings_without_an_end_are_bounded(part):
    """A user id or a name that never ends is refused before the set-up time is over."""
    start = b"\x04\x01\x01\xbb\x00\x00\x00\x01" + (b"user\0" if part == "name" else b"")
    with Proxy("socks") as proxy, Client(proxy.address) as client:
        watch = Stopwatch()
        try:
            client.send(start + b"a" * 100_000)
        except ConnectionError:
            pass
        client.socket.settimeout(limit(5))
        answer = client.to_end()
        assert answer == b"" or answer[1] == 0x5B
        assert watch.seconds < limit(5)


def test_socks4_user_id_of_255_bytes():
    with Origin(echo) as origin, Proxy("socks") as proxy, Client(proxy.address) as client:
        assert clients.socks4(client, *origin.address, user=b"u" * 255)[1] == 0x5A
        client.send(b"x")
        assert client.exactly(1) == b"x"


def test_a_success_reply_comes_only_after_the_connect():
    """While the connect is pending nothing is said."""
    with BlackHole() as hole, Proxy("mixed", "--set", "connect_timeout=1s") as proxy:
        with Client(proxy.address) as client:
            clients.socks5_greet(client)
            client.send(clients.socks5_request(clients.socks_address(*hole.address)))
            client.expect_silence(0.4)
        with Client(proxy.address) as client:
            client.send(clients.connect_head(*hole.address))
            client.expect_silence(0.4)


@pytest.mark.parametrize("leave, connect_timeout", ((Client.reset, "30s"), (Client.close, "1s")))
def test_a_client_that_leaves_while_its_connect_is_pending_frees_all(leave, connect_timeout):
    """At once when it resets; a FIN may also be a half-close, then the connect's own limit holds."""
    with BlackHole() as hole, Proxy("socks", "--set", f"connect_timeout={connect_timeout}") as proxy:
        with proxy.keeps_base_fds():
            for _ in range(10):
                client = Client(proxy.address)
                clients.socks5_greet(client)
                client.send(clients.socks5_request(clients.socks_address(*hole.address)))
                client.expect_silence(0.02)
                leave(client)


def test_ipv6_clients_and_targets():
    with Origin(echo, host="::1") as origin, Proxy("socks", listen="[::1]:0") as proxy:
        with Client(proxy.address) as client:
            assert clients.socks5(client, *origin.address).code == 0
            client.send(b"x")
            assert client.exactly(1) == b"x"
            assert client.socket.family == socket.AF_INET6
