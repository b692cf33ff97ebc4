"""SOCKS set-up: segmentation, names, credentials, versions."""

import itertools

import pytest

from harness import client as clients
from harness.client import Client
from harness.origin import Origin, echo
from harness.proxy import Proxy
from harness.timing import Stopwatch, limit

USER, PASSWORD = "ten-letter", "0123456789"


def _expect_echo(client, data=b"payload"):
    client.send(data)
    assert client.exactly(len(data)) == data


def _auth(name, password):
    return b"\x01" + bytes([len(name)]) + name + bytes([len(password)]) + password


@pytest.mark.parametrize("command", ("socks", "mixed"))
def test_B112_one_byte_at_a_time(command, dns):
    """One recv was taken for one message."""
    with Origin(echo) as origin, Proxy(command, "--user", f"{USER}:{PASSWORD}", *dns.options()) as proxy:
        with Client(proxy.address) as client:
            client.byte_by_byte(b"\x05\x02\x00\x02")
            assert client.exactly(2) == b"\x05\x02"
            client.byte_by_byte(_auth(USER.encode(), PASSWORD.encode()))
            assert client.exactly(2) == b"\x01\x00"
            client.byte_by_byte(clients.socks5_request(clients.socks_domain("o.example.test", origin.port)))
            assert clients.read_socks5_reply(client).code == 0
            _expect_echo(client)


def test_B112_the_time_limit_holds_for_single_bytes():
    """Each byte comes in time, the whole does not."""
    with Proxy("socks", "--set", "setup_timeout=1s") as proxy, Client(proxy.address) as client:
        watch = Stopwatch()
        with pytest.raises((OSError, clients.Ended)):
            client.byte_by_byte(b"\x05\x01\x00", gap=0.05)
            client.exactly(2)
            client.byte_by_byte(b"\x05\x01\x00\x03\xff" + b"a" * 255, gap=0.05)
            client.exactly(1)
        assert 0.8 < watch.seconds < limit(2.5)


@pytest.mark.parametrize("message", ("socks5", "socks5-auth", "socks4a"))
def test_set_up_is_read_right_cut_at_every_position(message, dns):
    with Origin(echo) as origin:
        destination = clients.socks5_request(clients.socks_domain("o.example.test", origin.port))
        whole, answer_bytes, options = {
            "socks5": (b"\x05\x01\x00" + destination, 2 + 10, ()),
            "socks5-auth": (b"\x05\x01\x02" + _auth(b"u", b"p") + destination, 2 + 2 + 10, ("--user", "u:p")),
            "socks4a": (clients.socks4_request("o.example.test", origin.port, user=b"me"), 8, ()),
        }[message]
        with Proxy("mixed", *options, *dns.options()) as proxy:
            for cut in range(1, len(whole)):
                with Client(proxy.address) as client:
                    client.segments([whole[:cut], whole[cut:] + b"early"], gap=0.02)
                    client.exactly(answer_bytes)
                    assert client.exactly(5) == b"early", f"cut at {cut}"


def test_everything_in_one_segment(dns):
    """A client may send greeting, request and payload without waiting (as RFC 1928 does not forbid)."""
    with Origin(echo) as origin, Proxy("socks", *dns.options()) as proxy, Client(proxy.address) as client:
        client.send(b"\x05\x01\x00" + clients.socks5_request(clients.socks_domain("o.example.test", origin.port))
                    + b"payload")
        assert client.exactly(2) == b"\x05\x00"
        assert clients.read_socks5_reply(client).code == 0
        assert client.exactly(7) == b"payload"


# A name of n bytes whose labels are legal.
def _name(count):
    labels, left = [], count
    while left > 63:
        labels.append("a" * 63)
        left -= 64
    if left == 0:  # no room for a dot and a label: shorten the last one
        labels[-1] = "a" * 62
        left = 1
    return ".".join([*labels, "b" * left])


@pytest.mark.parametrize("count", (253, 128, 127, 64, 63, 1))
def test_B114_long_names(count, dns):
    """A length was treated as signed or off by two. The payload follows in the same segment."""
    name = _name(count)
    assert len(name) == count
    dns.add(name, "127.0.0.1")
    with Origin(echo) as origin, Proxy("socks", *dns.options()) as proxy:
        with Client(proxy.address) as client:
            assert clients.socks5(client, name, origin.port, early=b"payload").code == 0
            assert client.exactly(7) == b"payload"
        assert dns.queries_for(name)
        with Client(proxy.address) as client:
            assert clients.socks4(client, name, origin.port, early=b"payload")[1] == 0x5A
            assert client.exactly(7) == b"payload"


@pytest.mark.parametrize("count", (254, 255))
def test_B114_names_too_long_for_dns(count, dns):
    """255 bytes fit the SOCKS field but no DNS name: a clean refusal, and nothing is read as something else."""
    with Proxy("socks", *dns.options()) as proxy:
        with Client(proxy.address) as client:
            reply = clients.socks5(client, _name(count), 443, early=b"payload")
            assert reply.code in (1, 4)
            client.expect_end()
        assert not dns.queries
        assert proxy.running


@pytest.mark.parametrize("name", ("", ".", "a..b", "a b", "a\0b", "a/b", "a:80", "o.example.test\0", "-" * 64))
def test_names_that_are_none_are_refused_and_never_asked_for(name, dns):
    with Proxy("socks", *dns.options()) as proxy, Client(proxy.address) as client:
        reply = clients.socks5(client, name, 443, as_domain=True)
        assert reply.code in (1, 4), reply
        client.expect_end()
        assert not dns.queries


@pytest.mark.parametrize("host", ("127.0.0.1", "::1", "[::1]"))
def test_B116_literals_as_domain_are_addresses(host, dns):
    """Address text in ATYP 3 was sent to DNS."""
    listen = "127.0.0.1" if host == "127.0.0.1" else "::1"
    with Origin(echo, host=listen) as origin, Proxy("socks", *dns.options()) as proxy:
        with Client(proxy.address) as client:
            reply = clients.socks5(client, host, origin.port, as_domain=True)
            # Brackets are URI syntax; a domain field that has them may be refused.
            assert reply.code == 0 or (host.startswith("[") and reply.code in (1, 4, 8)), reply
        assert not dns.queries


@pytest.mark.parametrize("host", ("2130706433", "0x7f000001", "127.1", "0177.0.0.1"))
def test_B116_odd_number_forms_as_domain(host, dns):
    """Refused, or judged as the address that they would reach; never a question to a name server."""
    with Origin(echo) as origin, Proxy("socks", *dns.options()) as proxy, Client(proxy.address) as client:
        reply = clients.socks5(client, host, origin.port, as_domain=True)
        if reply.code == 0:
            _expect_echo(client)
        else:
            assert reply.code in (1, 2, 4), reply
        assert not dns.queries


@pytest.mark.parametrize("host", ("127.0.0.1", "::1", "[::1]", "2130706433", "0x7f000001", "127.1", "0177.0.0.1"))
def test_B116_literals_as_domain_obey_address_rules(host, two_hosts):
    """The same from a client that may not go to loopback."""
    net = two_hosts
    with Origin(echo, host="", netns=net.inside) as origin:
        with Proxy("socks", "--open", listen=f"{net.inside_v4}:0", netns=net.inside) as proxy:
            with Client(proxy.address, netns=net.outside) as client:
                reply = clients.socks5(client, host, origin.port, as_domain=True)
                assert reply.code == 2 or (host.startswith("[") and reply.code in (1, 4, 8)), reply
                client.expect_end()
        assert not origin.connections


@pytest.mark.parametrize("users, sent, accepted", (
    ("a:", b"\x01\x01a\x00", True),
    ("a:secret", b"\x01\x01a\x00", False),
    ("a:b", b"\x01\x01a\x01b", True),
    ("a:b", b"\x01\x00\x00", False),
    ("a:b", b"\x01\x01a\x02bb", False),
    ("a:b", b"\x01\x02aa\x01b", False),
    ("a:b", b"\x01\x01A\x01b", False),
    ("a:b", b"\x01\xff" + b"n" * 255 + b"\xff" + b"p" * 255, False),
    ("a:b:c", b"\x01\x01a\x03b:c", True),
))
def test_B118_empty_and_one_byte_credentials(users, sent, accepted, dns):
    """An empty password was refused as malformed and the stream lost its place."""
    with Origin(echo) as origin, Proxy("socks", "--user", users, *dns.options()) as proxy:
        with Client(proxy.address) as client:
            client.send(b"\x05\x01\x02")
            assert client.exactly(2) == b"\x05\x02"
            client.send(sent)
            answer = client.exactly(2)
            if not accepted:
                assert answer[0] == 1 and answer[1] != 0, answer
                client.expect_end()
                return
            assert answer == b"\x01\x00"
            client.send(clients.socks5_request(clients.socks_domain("o.example.test", origin.port)))
            assert clients.read_socks5_reply(client).code == 0
            _expect_echo(client)


def test_B118_an_empty_user_name_is_parsed_to_its_end():
    """`01 00 00` is malformed by RFC 1929 (1 to 255 bytes) but whole: the refusal comes at once."""
    with Proxy("socks", "--user", "a:b") as proxy, Client(proxy.address) as client:
        client.send(b"\x05\x01\x02")
        client.exactly(2)
        watch = Stopwatch()
        client.send(b"\x01\x00\x00")
        answer = client.exactly(2)
        assert answer[0] == 1 and answer[1] != 0
        client.expect_end()
        assert watch.seconds < limit(1)


def test_methods_none_of_which_is_offered_are_answered_ff():
    for options, methods in (((), b"\x02"), ((), b"\x01\x80\xfe"), (("--user", "a:b"), b"\x00"), ((), b"")):
        with Proxy("socks", *options) as proxy, Client(proxy.address) as client:
            client.send(bytes([5, len(methods)]) + methods)
            client.expect_end(after=b"\x05\xff")


def test_users_are_asked_for_even_when_the_client_prefers_none():
    with Proxy("socks", "--user", "a:b") as proxy:
        for methods in itertools.permutations(b"\x00\x01\x02"):
            with Client(proxy.address) as client:
                client.send(bytes([5, 3, *methods]))
                assert client.exactly(2) == b"\x05\x02"


def test_socks4_cannot_authenticate_and_is_refused_where_users_are_set(dns):
    with Origin(echo) as origin, Proxy("socks", "--user", "a:b", *dns.options()) as proxy:
        for host in ("127.0.0.1", "o.example.test"):
            with Client(proxy.address) as client:
                assert clients.socks4(client, host, origin.port, user=b"a")[1] in (0x5B, 0x5D)
                client.expect_end()
        assert not origin.connections


@pytest.mark.parametrize("start", (b"\x06\x01\x00", b"\x00\x01\x00", b"\xff\xff", b"HTTP/1.1 200 OK\r\n\r\n"))
def test_other_first_bytes_are_ended_without_an_answer(start):
    with Proxy("socks") as proxy, Client(proxy.address) as client:
        client.send(start)
        client.expect_end()


def test_wrong_versions_in_later_messages_are_refused(dns):
    with Proxy("socks", *dns.options()) as proxy:
        with Client(proxy.address) as client:
            client.send(b"\x05\x01\x00")
            client.exactly(2)
            client.send(b"\x04\x01\x00\x01\x7f\x00\x00\x01\x01\xbb")
            answer = client.to_end()
            assert answer == b"" or (answer[0] == 5 and answer[1] == 1)
    with Proxy("socks", "--user", "a:b") as proxy, Client(proxy.address) as client:
        client.send(b"\x05\x01\x02")
        client.exactly(2)
        client.send(b"\x05\x01a\x01b")
        answer = client.to_end()
        assert answer == b"" or (answer[0] == 1 and answer[1] != 0)
