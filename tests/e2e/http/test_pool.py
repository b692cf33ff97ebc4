"""Origin connections: kept, shared, given up, and when a request is tried a second time."""

import time

import pytest

from harness.client import Client
from harness.origin import Close, HttpOrigin, Reset, ok
from harness.proxy import Proxy
from harness.timing import Stopwatch, limit, wait_until
from http_support import assert_made_by_proxy, expect_success, request


def exchange(client, origin, target="/", *fields, **more):
    """One request and its answer; returns the number of the origin connection that it took."""
    client.send(request(f"http://{origin.authority}{target}", *fields, **more))
    expect_success(client, body=None, to=more.get("method", "GET"))
    return origin.requests[-1].on_connection


def test_second_request_takes_the_same_origin_connection(client, origin):
    assert [exchange(client, origin) for _ in range(3)] == [0, 0, 0]


def test_another_client_takes_it_as_well(proxy, origin):
    with Client(proxy.address) as one, Client(proxy.address) as other:
        assert [exchange(client, origin) for client in (one, other, one)] == [0, 0, 0]
    with Client(proxy.address) as third:  # and it outlives the clients
        assert exchange(third, origin) == 0


def test_closing_client_does_not_close_the_origin_connection(proxy, origin):
    for _ in range(3):
        with Client(proxy.address) as client:
            assert exchange(client, origin, "/", "Connection: close") == 0
            client.expect_end()


def test_busy_connection_is_not_shared(proxy):
    """Two requests at once take two connections."""
    def answer(asked):
        if asked.target == "/slow":
            time.sleep(0.5)
        return ok(b"fine")
    with HttpOrigin(answer) as origin, Client(proxy.address) as one, Client(proxy.address) as other:
        one.send(request(f"http://{origin.authority}/slow"))
        origin.wait_requests()
        assert exchange(other, origin, "/quick") == 1
        expect_success(one)


@pytest.mark.parametrize("answer", [
    lambda asked: ok(b"fine", "Connection: close"),
    lambda asked: Close(ok(b"fine", "Connection: close")),
    lambda asked: b"HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\nfine",
], ids=["says close", "says close and closes", "HTTP/1.0"])
def test_connection_that_the_origin_gives_up_is_not_used_again(client, answer):
    with HttpOrigin(answer) as origin:
        assert [exchange(client, origin) for _ in range(3)] == [0, 1, 2]
        assert origin.connections[0].wait_ended()


def test_http_1_0_origin_with_keep_alive_is_used_again(client):
    answer = b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 4\r\n\r\nfine"
    with HttpOrigin(lambda asked: answer) as origin:
        numbers = [exchange(client, origin) for _ in range(2)]
        assert numbers in ([0, 0], [0, 1])


@pytest.mark.parametrize("fields, challenge", [
    (["Authorization: NTLM TlRMTVNTUAAB"], None),
    (["Authorization: Negotiate YII"], None),
    (["authorization: negotiate YII"], None),
    ([], "NTLM TlRMTVNTUAAC"),
    ([], "Negotiate oYH"),
], ids=["NTLM", "Negotiate", "negotiate", "challenge NTLM", "challenge Negotiate"])
def test_connection_bound_authentication_is_not_shared(proxy, fields, challenge):
    """NTLM and Negotiate make the connection the user: another client must never get it."""
    answer = ok(b"fine", *([f"WWW-Authenticate: {challenge}"] if challenge else []))
    with HttpOrigin(lambda asked: answer) as origin, Client(proxy.address) as one, Client(proxy.address) as other:
        bound = exchange(one, origin, "/", *fields)
        assert exchange(other, origin) != bound
        one.close()
        with Client(proxy.address) as third:
            assert exchange(third, origin) != bound


def test_connection_bound_authentication_goes_on_for_its_client(client):
    """The three steps of NTLM need the same connection, for the same client."""
    answer = ok(b"fine", "WWW-Authenticate: NTLM TlRMTVNTUAAC")
    with HttpOrigin(lambda asked: answer) as origin:
        assert [exchange(client, origin, "/", "Authorization: NTLM TlRMTVNTUAAB") for _ in range(3)] == [0, 0, 0]


def test_other_authentication_is_shared(proxy, origin):
    """Basic and Bearer speak for one request only."""
    with Client(proxy.address) as one, Client(proxy.address) as other:
        assert exchange(one, origin, "/", "Authorization: Basic dTpw") == 0
        assert exchange(other, origin, "/", "Authorization: Bearer x") == 0


def test_pool_is_keyed_by_port(client, origin):
    with HttpOrigin(lambda asked: ok(b"other")) as second:
        assert exchange(client, origin) == 0
        client.send(request(f"http://{second.authority}/"))
        expect_success(client, b"other")
        assert exchange(client, origin) == 0


# ---- idle ends ----

def test_idle_origin_connection_is_closed_in_time(dns, origin):
    with Proxy("http", "--workers", "1", *dns.options(), "--set", "keepalive_timeout=1s") as proxy, \
         Client(proxy.address) as client:
        exchange(client, origin)
        client.close()
        assert origin.connections[0].wait_ended(seconds=5)
        assert proxy.running


def test_idle_client_is_closed_silently(dns, origin):
    with Proxy("http", "--workers", "1", *dns.options(), "--set", "keepalive_timeout=1s") as proxy, \
         Client(proxy.address) as client:
        exchange(client, origin)
        watch = Stopwatch()
        client.expect_end(seconds=4, how="eof")
        assert watch.seconds > 0.7


def test_origin_that_closes_its_idle_connection_does_no_harm(proxy):
    """The proxy sees the end and takes a new connection for the next request."""
    def answer(asked):
        return Close(ok(b"fine")) if asked.target == "/close" else ok(b"fine")
    with HttpOrigin(answer) as origin, proxy.keeps_base_fds(), Client(proxy.address) as client:
        base = [exchange(client, origin, "/close") for _ in range(20)]
        assert base == list(range(20))


# ---- the second try ----

class DyingOrigin(HttpOrigin):
    """Answers the first request of each connection and dies on the second, which it has read; dies on
    every /fresh."""

    def __init__(self, death=Reset):
        self._counts = {}
        self._death = death
        super().__init__(self._decide)

    def _decide(self, asked):
        count = self._counts[asked.on_connection] = self._counts.get(asked.on_connection, 0) + 1
        if asked.target == "/fresh" or count > 1:
            return self._death(b"")
        return ok(b"fine")


@pytest.mark.parametrize("death", [Reset, Close], ids=["reset", "end"])
@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "DELETE", "PUT", "TRACE"])
def test_idempotent_request_without_body_is_tried_again(client, death, method):
    """A pooled connection that dies before a byte of the answer costs the client nothing."""
    with DyingOrigin(death) as origin:
        assert exchange(client, origin, "/1") == 0
        assert exchange(client, origin, "/2", method=method) == 1
        assert [(seen.target, seen.on_connection) for seen in origin.requests] == [("/1", 0), ("/2", 0), ("/2", 1)]


@pytest.mark.parametrize("method, body", [("POST", b""), ("POST", b"x"), ("PATCH", b""), ("PUT", b"x"), ("GET", b"x"),
                                          ("FOO", b"")])
@pytest.mark.parametrize("death", [Reset, Close], ids=["reset", "end"])
def test_any_other_request_is_not(client, death, method, body):
    with DyingOrigin(death) as origin:
        assert exchange(client, origin, "/1") == 0
        client.send(request(f"http://{origin.authority}/2", method=method, body=body))
        assert_made_by_proxy(client.response(), 502)
        assert [seen.target for seen in origin.requests] == ["/1", "/2"]


def test_first_use_of_a_connection_is_not_tried_again(client):
    """Only a connection that came from the pool can have died of age."""
    with DyingOrigin() as origin:
        client.send(request(f"http://{origin.authority}/fresh"))
        assert_made_by_proxy(client.response(), 502)
        assert len(origin.requests) == 1


def test_second_try_is_the_last(client):
    with DyingOrigin() as origin:
        assert exchange(client, origin, "/1") == 0
        client.send(request(f"http://{origin.authority}/fresh"))
        assert_made_by_proxy(client.response(), 502)
        assert [seen.on_connection for seen in origin.requests] == [0, 0, 1]


def test_second_try_does_not_take_another_old_connection(proxy):
    """Where an origin restarted, every pooled connection is dead: the second try dials."""
    gate = []

    def answer(asked):
        if gate:
            return Reset(b"") if asked.on_connection < 4 else ok(b"new")
        wait_until(lambda: len(origin.requests) >= 4, 2, "four at once")
        return ok(b"old")
    with HttpOrigin(answer) as origin:
        clients = [Client(proxy.address) for _ in range(4)]
        for client in clients:
            client.send(request(f"http://{origin.authority}/"))
        for client in clients:
            expect_success(client, b"old")
        gate.append(True)
        for client in clients:
            client.send(request(f"http://{origin.authority}/"))
            expect_success(client, b"new")
            client.close()


def test_answer_that_began_is_not_tried_again(client):
    """Even a single byte of it."""
    def answer(asked):
        return ok(b"fine") if asked.target == "/1" else Reset(b"H")
    with HttpOrigin(answer) as origin:
        assert exchange(client, origin, "/1") == 0
        client.send(request(f"http://{origin.authority}/2"))
        assert_made_by_proxy(client.response(), 502)
        time.sleep(limit(0.2))  # a second try would come now
        assert len(origin.requests) == 2


def test_no_pooled_connection_leaks(proxy, origin):
    """Descriptors fall back when clients and origins have gone."""
    with proxy.keeps_base_fds(seconds=5), HttpOrigin(lambda asked: ok(b"fine")) as gone:
        for _ in range(30):
            with Client(proxy.address) as client:
                exchange(client, gone)
