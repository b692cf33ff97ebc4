"""Upgrade and WebSocket: the tunnel behind a 101, and the bytes next to it."""

import pytest

from harness.client import Client
from harness.origin import HttpOrigin, ok, payload, sha256
from harness.proxy import Proxy
from http_support import assert_made_by_proxy, expect_success, request

UPGRADE = ("Connection: Upgrade", "Upgrade: probe/1")
SWITCH = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: probe/1\r\n\r\n"


def expect_101(client):
    response = client.response()
    assert response.status == 101, response
    assert (response.get("upgrade"), response.get("connection").lower()) == ("probe/1", "upgrade")
    assert response.all("via")
    assert response.all("content-length") == response.all("transfer-encoding") == []


def test_bytes_right_behind_the_101_reach_the_client(client):
    with HttpOrigin(lambda asked: SWITCH + b"first words") as origin:
        client.send(request(f"http://{origin.authority}/", *UPGRADE))
        expect_101(client)
        assert client.exactly(11) == b"first words"


def test_bytes_right_behind_the_request_reach_the_origin_after_the_101(client):
    """A client that does not wait; what it sends is the tunnel's once the origin has switched."""
    early = payload(40_000)

    def answer(asked):
        asked.conn.send(SWITCH)
        assert asked.conn.read_exactly(len(early)) == early
        asked.conn.send(b"got it")
        asked.conn.read_to_end()
    with HttpOrigin(answer) as origin:
        client.send(request(f"http://{origin.authority}/", *UPGRADE) + early)
        expect_101(client)
        assert client.exactly(6) == b"got it"


def test_bytes_right_behind_a_refused_upgrade_are_the_next_request(client):
    with HttpOrigin(lambda asked: ok(asked.target.encode())) as origin:
        client.send(request(f"http://{origin.authority}/a", *UPGRADE) + request(f"http://{origin.authority}/b"))
        expect_success(client, b"/a")
        expect_success(client, b"/b")


def test_each_side_can_end_on_its_own(client):
    def answer(asked):
        asked.conn.send(SWITCH)
        assert asked.conn.read_to_end() == b"request"
        asked.conn.send(b"answer")
    with HttpOrigin(answer) as origin:
        client.send(request(f"http://{origin.authority}/", *UPGRADE))
        expect_101(client)
        client.send(b"request")
        client.fin()
        client.expect_end(after=b"answer", how="eof")


def test_upgrade_with_a_body(client):
    """The body comes first (RFC 9110 section 7.8)."""
    def answer(asked):
        assert asked.body == b"hello"
        asked.conn.send(SWITCH)
        asked.conn.send(asked.conn.read_exactly(4))
        asked.conn.read_to_end()
    with HttpOrigin(answer) as origin:
        client.send(request(f"http://{origin.authority}/", *UPGRADE, method="POST", body=b"hello") + b"ping")
        expect_101(client)
        assert client.exactly(4) == b"ping"


@pytest.mark.parametrize("splice", ["never", "always"])
def test_20_mib_each_way(dns, splice):
    data = payload(20 * 1024 * 1024)

    def answer(asked):
        asked.conn.send(SWITCH)
        asked.conn.send(data)
        count, digest = asked.conn.drain()
        assert (count, digest) == (len(data), sha256(data))
        asked.conn.send(b"same")
    with HttpOrigin(answer) as origin, Proxy("http", "--splice", splice, *dns.options()) as proxy, \
         Client(proxy.address) as client:
        client.send(request(f"http://{origin.authority}/", *UPGRADE))
        expect_101(client)
        assert client.hash_exactly(len(data)) == sha256(data)
        client.send(data)
        client.fin()
        client.expect_end(after=b"same", how="eof", seconds=10)


def test_101_that_nobody_asked_for_is_refused(client):
    """It would make a tunnel of a connection that the client takes for HTTP."""
    with HttpOrigin(lambda asked: SWITCH + b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") as origin:
        client.send(request(f"http://{origin.authority}/"))
        assert_made_by_proxy(client.response(), 502)
        assert origin.connections[0].wait_ended()


def test_upgrade_of_an_http_1_0_client_is_ignored(client):
    """RFC 9110 section 7.8: Upgrade in HTTP/1.0 is to be ignored."""
    with HttpOrigin(lambda asked: ok(b"plain")) as origin:
        client.send(request(f"http://{origin.authority}/", *UPGRADE, version="1.0"))
        expect_success(client, b"plain")
        assert origin.requests[0].all("upgrade") == []


def test_upgraded_connection_is_not_pooled(proxy, client):
    with HttpOrigin(lambda asked: SWITCH if asked.target == "/up" else ok(b"fine")) as origin:
        client.send(request(f"http://{origin.authority}/up", *UPGRADE))
        expect_101(client)
        client.close()
        assert origin.connections[0].wait_ended()
        with Client(proxy.address) as other:
            other.send(request(f"http://{origin.authority}/"))
            expect_success(other)
        assert origin.requests[-1].on_connection == 1
