"""Half-close: each side may end its sending while the other one goes on."""

import time

import pytest

from harness.client import Client
from harness.origin import HttpOrigin, Origin, ok, payload, sha256
from harness.proxy import Proxy
from harness.timing import Stopwatch, limit
from harness.tunnels import FRONTS, MAIN_FRONTS, SPLICE, front

MIB = 1 << 20


@pytest.mark.parametrize("splice", SPLICE)
@pytest.mark.parametrize("name", FRONTS)
def test_B001_half_close_delivers_the_answer(name, splice):
    """The end of the client's sending side was taken as the end of the session."""
    answer = payload(20 * MIB)

    def script(conn):
        conn.read_to_end()
        time.sleep(0.3)
        conn.send(answer)

    with Origin(script) as origin, front(name, origin, "--splice", splice) as via:
        with via.open() as client:
            client.send(b"req")
            ended_at = time.monotonic()
            client.fin()
            assert client.hash_to_end() == (len(answer), sha256(answer))
            assert client.ended == "eof"
        conn = origin.wait_connection()
        assert bytes(conn.received) == b"req"
        assert conn.ended == "eof"
        assert conn.ended_at - ended_at < limit(0.1)


@pytest.mark.parametrize("splice", ("never", "always"))
@pytest.mark.parametrize("name", MAIN_FRONTS)
def test_half_close_by_the_origin_leaves_the_way_to_it_open(name, splice):
    upload = payload(5 * MIB)

    def script(conn):
        conn.send(b"bye")
        conn.fin()
        conn.drained = conn.drain()

    with Origin(script) as origin, front(name, origin, "--splice", splice) as via:
        with via.open() as client:
            assert client.to_end() == b"bye"
            assert client.ended == "eof"
            client.send(upload)
            client.fin()
            conn = origin.wait_connection()
            conn.wait_ended()
            conn.done.wait(limit(2))
            assert conn.drained == (len(upload), sha256(upload))


@pytest.mark.parametrize("name", MAIN_FRONTS)
def test_an_end_before_any_byte_is_passed_on(name):
    with Origin(lambda conn: conn.read_to_end()) as origin, front(name, origin) as via:
        with via.open() as client:
            client.fin()
            assert origin.wait_connection().wait_ended() == "eof"
            client.expect_end(how="eof")


@pytest.mark.parametrize("name", MAIN_FRONTS)
def test_both_ends_at_the_same_time_end_the_session(name):
    def script(conn):
        conn.read_until(b"x")
        conn.fin()
        conn.read_to_end()

    with Origin(script) as origin, front(name, origin) as via:
        with via.proxy.keeps_base_fds():
            for _ in range(50):
                with via.open() as client:
                    client.send(b"x")
                    client.fin()
                    client.expect_end(how="eof")


@pytest.mark.parametrize("name", MAIN_FRONTS)
def test_half_closed_timeout_ends_a_session_with_one_silent_half(name):
    """The answer's half is silent for longer than half_closed_timeout after the client's end."""
    with Origin(lambda conn: (conn.read_to_end(), conn.done.wait(10))) as origin:
        with front(name, origin, "--set", "half_closed_timeout=1s") as via, via.proxy.keeps_base_fds():
            with via.open() as client:
                client.send(b"req")
                origin.wait_connection().wait_received(3)
                watch = Stopwatch()
                client.fin()
                client.expect_end(seconds=3)
                assert 0.8 < watch.seconds < limit(2.5)


@pytest.mark.parametrize("name", ("relay", "connect"))
def test_half_closed_timeout_counts_silence_not_length(name):
    def script(conn):
        conn.read_to_end()
        for _ in range(6):
            conn.send(b"tick")
            time.sleep(0.4)

    with Origin(script) as origin, front(name, origin, "--set", "half_closed_timeout=1s") as via:
        with via.open() as client:
            client.fin()
            assert client.to_end() == b"tick" * 6
            assert client.ended == "eof"


def test_B003_half_close_after_a_whole_http_request():
    """A client that sends a whole request and closes its write side got an empty reply."""
    body = payload(MIB)

    def answer(request):
        time.sleep(0.5)
        return ok(body, "Connection: close")

    with HttpOrigin(answer) as origin, Proxy("http") as proxy, Client(proxy.address) as client:
        client.send(f"POST http://{origin.authority}/ HTTP/1.1\r\nHost: {origin.authority}\r\n"
                    "Connection: close\r\nContent-Length: 5\r\n\r\nhello")
        client.fin()
        response = client.response()
        assert response.status == 200 and response.clean
        assert sha256(response.body) == sha256(body)
        assert [r.body for r in origin.requests] == [b"hello"]


def test_B003_half_close_inside_a_request_body_is_no_complete_request():
    """A FIN inside the request body must not make a complete request at the origin."""
    with HttpOrigin(lambda request: ok()) as origin, Proxy("http") as proxy, Client(proxy.address) as client:
        client.send(f"POST http://{origin.authority}/ HTTP/1.1\r\nHost: {origin.authority}\r\n"
                    "Content-Length: 5\r\n\r\nhel")
        client.fin()
        client.to_end()
        for request in origin.requests:
            request.conn.wait_ended()
            assert not request.whole


def test_B003_get_with_a_fin_right_behind_it():
    with HttpOrigin(lambda request: ok(b"answer")) as origin, Proxy("http") as proxy:
        for _ in range(20):
            with Client(proxy.address) as client:
                client.send(f"GET http://{origin.authority}/ HTTP/1.1\r\nHost: {origin.authority}\r\n\r\n")
                client.fin()
                assert client.response().body == b"answer"
                client.expect_end(how="eof")
        assert len(origin.requests) == 20
