"""Field cases of area 7: the behaviour of HTTP."""

import time

import pytest

from harness.client import Client
from harness.origin import Close, HttpOrigin, Reset, ok, payload
from harness.timing import Stopwatch, limit, wait_until
from http_support import assert_made_by_proxy, chunked, expect_refusal, expect_success, request, wire

MIB = 1024 * 1024
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


def test_B086_expect_passes_and_the_100_comes_back(client):
    """The proxy stripped Expect, or waited for the body before it looked at the origin: deadlock."""
    body = payload(MIB)

    def answer(asked):
        assert asked.get("expect") == "100-continue"
        time.sleep(0.2)
        asked.conn.send(CONTINUE)
        assert asked.conn.read_exactly(MIB) == body
        asked.conn.send(ok(b"stored"))
        asked.conn.read_to_end()
    with HttpOrigin(answer, read_body=False) as origin:
        watch = Stopwatch()
        client.send(request(f"http://{origin.authority}/", "Expect: 100-continue", f"Content-Length: {MIB}",
                            method="PUT"))
        assert client.read_until(b"\r\n\r\n").startswith(b"HTTP/1.1 100 ")
        assert 0.15 < watch.seconds < 0.2 + limit(0.3)
        client.send(body)
        response = expect_success(client, b"stored")
        assert response.interim == []


def test_B088_an_origin_that_sends_100_is_heard_once(client):
    """The proxy and the origin both answered 100."""
    def answer(asked):
        asked.conn.send(CONTINUE)
        asked.conn.read_exactly(5)
        asked.conn.send(ok(b"stored"))
        asked.conn.read_to_end()
    with HttpOrigin(answer, read_body=False) as origin:
        client.send(request(f"http://{origin.authority}/", "Expect: 100-continue", "Content-Length: 5", method="PUT"))
        assert client.read_until(b"\r\n\r\n").startswith(b"HTTP/1.1 100 ")
        client.send(b"hello")
        assert expect_success(client, b"stored").interim == []


def test_B088_an_origin_that_never_sends_100(client, origin):
    """The body flows after the client's own wait, and at most one 100 comes."""
    client.send(request(f"http://{origin.authority}/", "Expect: 100-continue", "Content-Length: 5", method="PUT"))
    time.sleep(1)  # the client's wait
    client.send(b"hello")
    assert len(expect_success(client).interim) <= 1
    assert origin.requests[0].body == b"hello"


def test_B088_http_1_0_client_gets_no_100(client):
    """An HTTP/1.0 client that sends Expect got an interim answer, which it cannot read."""
    def answer(asked):
        assert asked.all("expect") == []
        return [CONTINUE, b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", ok(b"stored")]
    with HttpOrigin(answer) as origin:
        client.send(request(f"http://{origin.authority}/", "Expect: 100-continue", method="PUT", version="1.0",
                            body=b"hello"))
        assert expect_success(client, b"stored").interim == []


WEBSOCKET = ("Upgrade: websocket", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13")
SWITCH = (b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
          b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n")


def upgrade_then_echo(asked):
    """Switches protocols where asked to, and echoes from then on."""
    if asked.get("upgrade") != "websocket":
        return ok(b"ordinary")
    assert [token.strip().lower() for token in asked.get("connection").split(",")].count("upgrade") == 1
    asked.conn.send(SWITCH)
    while True:
        asked.conn.send(asked.conn.read_until(lambda data: len(data)))


def expect_switched(client):
    response = client.response()
    assert response.status == 101, response
    assert response.get("upgrade") == "websocket"
    assert response.get("connection").lower() == "upgrade"
    assert response.get("sec-websocket-accept") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
    client.send(b"\x81\x05\r\n\x00\xffx")
    assert client.exactly(7) == b"\x81\x05\r\n\x00\xffx"


@pytest.mark.parametrize("connection", ["keep-alive, Upgrade", "Upgrade", "upgrade,keep-alive"])
def test_B090_websocket_is_switched(client, connection):
    """All hop-by-hop fields were stripped, so that the 101 arrived without Upgrade."""
    with HttpOrigin(upgrade_then_echo) as origin:
        client.send(request(f"http://{origin.authority}/ws", f"Connection: {connection}", *WEBSOCKET))
        expect_switched(client)
        assert origin.requests[0].get("sec-websocket-key") == "dGhlIHNhbXBsZSBub25jZQ=="
        assert origin.requests[0].target == "/ws"


@pytest.mark.parametrize("fields", [["Connection: upgrade-insecure-requests", "Upgrade-Insecure-Requests: 1"],
                                    ["Connection: xupgrade", "Upgrade: websocket"],
                                    ["Connection: keep-alive", "Upgrade: websocket"], ["Upgrade: websocket"]])
def test_B090_what_only_looks_like_an_upgrade_is_an_ordinary_request(client, fields):
    """`Connection` was searched for the letters `upgrade`."""
    with HttpOrigin(upgrade_then_echo) as origin:
        client.send(request(f"http://{origin.authority}/", *fields))
        expect_success(client, b"ordinary")
        assert origin.requests[0].all("upgrade") == origin.requests[0].all("connection") == []


def test_B092_upgrade_that_is_refused_and_one_that_works(client):
    """After the origin had answered 200 instead of 101 the next request got 400 or was relayed blindly."""
    def answer(asked):
        return ok(b"no") if asked.target == "/refuses" else upgrade_then_echo(asked)
    with HttpOrigin(answer) as origin:
        client.send(request(f"http://{origin.authority}/refuses", "Connection: Upgrade", *WEBSOCKET))
        expect_success(client, b"no")
        client.send(request(f"http://{origin.authority}/"))
        expect_success(client, b"ordinary")
        client.send(request(f"http://{origin.authority}/ws", "Connection: Upgrade", *WEBSOCKET))
        expect_switched(client)


def test_B094_http_1_0_client_gets_no_chunks(client):
    """An HTTP/1.0 client got the chunk lines as content."""
    answer = wire("HTTP/1.1 200 OK¶Transfer-Encoding: chunked¶Trailer: X-Sum¶¶") + chunked(
        b"hello ", b"world", trailer=b"X-Sum: 1\r\n")
    with HttpOrigin(lambda asked: answer) as origin:
        client.send(request(f"http://{origin.authority}/", version="1.0"))
        response = expect_success(client, b"hello world")
        assert response.framing == "close" and response.all("transfer-encoding") == []
        assert response.all("trailer") == response.all("x-sum") == []


@pytest.mark.parametrize("version", ["1.1", "1.0"])
def test_B096_answer_without_a_length_comes_in_pieces(client, version):
    """It was held back, cut at the first gap, or ended without a mark."""
    sent = []

    def answer(asked):
        asked.conn.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        for number in range(5):
            time.sleep(0.3)
            sent.append(time.monotonic())
            asked.conn.send(b"data: %d\n\n" % number)
        asked.conn.fin()
    with HttpOrigin(answer) as origin:
        client.send(request(f"http://{origin.authority}/", version=version))
        head = client.read_until(b"\r\n\r\n")
        for number in range(5):
            client.read_until(b"data: %d\n\n" % number)
            assert time.monotonic() - sent[number] < limit(0.05)
        if b"transfer-encoding: chunked" in head.lower():
            assert version == "1.1"
            client.read_until(b"0\r\n\r\n")
        else:
            client.expect_end(how="eof")


def counted_then_reset(asked):
    """Answers GET /first; resets the connection when it has read any other request as a whole."""
    return ok(b"first") if asked.target == "/first" else Reset(b"")


@pytest.mark.parametrize("method, body", [("POST", b"hello"), ("POST", b""), ("PATCH", b"hello"), ("FOO", b"")])
def test_B098_post_is_not_sent_twice(client, method, body):
    """A POST was sent again although the origin may have carried it out."""
    with HttpOrigin(counted_then_reset) as origin:
        client.send(request(f"http://{origin.authority}/first"))
        expect_success(client, b"first")
        client.send(request(f"http://{origin.authority}/", *([] if body else ["Content-Length: 0"]),
                            method=method, body=body))
        assert_made_by_proxy(client.response(), 502)
        assert origin.requests[1].on_connection == 0, "the case needs a reused connection"
        time.sleep(limit(0.3))  # a second try would come now
        assert [seen.method for seen in origin.requests] == ["GET", method]


def test_B098_get_is_not_sent_again_once_part_of_the_answer_went_out(client):
    """The same for a GET that has delivered half of its answer."""
    half = Reset(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")
    with HttpOrigin(lambda asked: ok(b"first") if asked.target == "/first" else half) as origin:
        client.send(request(f"http://{origin.authority}/first"))
        expect_success(client, b"first")
        client.send(request(f"http://{origin.authority}/"))
        response = client.response()
        assert response.status in (200, 502) and not (response.status == 200 and response.clean), response
        time.sleep(limit(0.3))  # a second try would come now
        assert [seen.target for seen in origin.requests] == ["/first", "/"]


def test_B100_nothing_runs_behind_connection_close(client, origin):
    """Requests after `Connection: close` were run."""
    client.send(request(f"http://{origin.authority}/a", "Connection: close") + request(f"http://{origin.authority}/b"))
    response = expect_success(client)
    assert response.get("connection") == "close"
    client.expect_end()
    assert [seen.target for seen in origin.requests] == ["/a"]


def test_B100_a_second_request_is_answered_or_the_first_answer_says_close(client, origin):
    """The first answer promised keep-alive, and the second request was met by silence."""
    client.send(request(f"http://{origin.authority}/a"))
    response = expect_success(client)
    if response.get("connection") == "close":
        client.expect_end()
        return
    client.send(request(f"http://{origin.authority}/b"))
    expect_success(client)


@pytest.mark.parametrize("method", ["OPTIONS", "POST"])
@pytest.mark.parametrize("coding", ["chunked", "Chunked"])
def test_B102_chunked_upload_flows(client, origin, method, coding):
    """Chunked requests were forwarded without a body; pieces must not wait for the end."""
    client.send(request(f"http://{origin.authority}/", f"Transfer-Encoding: {coding}", method=method))
    for part in (b"one", b"two", b"three"):
        client.send(b"%x\r\n%b\r\n" % (len(part), part))
        wait_until(lambda: part in b"".join(bytes(conn.received) for conn in origin.connections), 2,
                   lambda: f"{part} at the origin before the next piece")
    client.send(b"0\r\n\r\n")
    expect_success(client)
    assert origin.requests[0].body == b"onetwothree"
    assert origin.requests[0].get("transfer-encoding") == "chunked"


_CUT_REQUESTS = {
    "length": (["Content-Length: 100"], b"x" * 40),
    "chunked": (["Transfer-Encoding: chunked"], b"5\r\nhello\r\n"),
    "chunked without its empty line": (["Transfer-Encoding: chunked"], b"5\r\nhello\r\n0\r\n"),
}


@pytest.mark.parametrize("end", ["fin", "reset"])
@pytest.mark.parametrize("name", _CUT_REQUESTS)
def test_B104_request_that_is_cut_short_is_not_completed(proxy, client, origin, name, end):
    """Incomplete bodies were delivered as complete ones."""
    fields, body = _CUT_REQUESTS[name]
    client.send(request(f"http://{origin.authority}/", *fields, method="POST") + body)
    origin.wait_requests()
    getattr(client, end)()
    origin.expect_none_complete()
    if end == "fin":
        client.socket.settimeout(limit(2))
        if client.to_end():
            assert client.ended == "eof"
    with Client(proxy.address) as other:  # nor is its connection used again
        other.send(request(f"http://{origin.authority}/other"))
        expect_success(other)
    assert origin.requests[-1].on_connection == 1


@pytest.mark.parametrize("end", ["fin", "reset"])
def test_B104_head_that_is_cut_short_is_not_sent(proxy, client, origin, end):
    """The same for a head without its empty line."""
    client.send(request(f"http://{origin.authority}/", "X-A: 1")[:-2])
    getattr(client, end)()
    if end == "fin":
        client.socket.settimeout(limit(2))
        client.to_end()  # a 400 or nothing; what counts is that it ends
    with Client(proxy.address) as other:
        other.send(request(f"http://{origin.authority}/other"))
        expect_success(other)
    assert [seen.target for seen in origin.requests] == ["/other"]


def test_an_answer_survives_an_origin_that_closes_at_once(client):
    """Close right behind a whole answer is an ordinary end of that connection."""
    with HttpOrigin(lambda asked: Close(ok(b"last words"))) as origin:
        for _ in range(3):
            client.send(request(f"http://{origin.authority}/"))
            expect_success(client, b"last words")
        assert len(origin.connections) == 3


def test_get_to_a_closed_port_is_a_502_that_names_the_reason(client, origin):
    """Errors tell the person in front what happened."""
    origin.stop_listening()
    client.send(request(f"http://{origin.authority}/"))
    response = expect_refusal(client, 502, error="connection_refused", ends=False)
    assert "refused" in response.text
