"""Requests in absolute form, through the proxy to an origin and back."""

import re
import time

import pytest

from harness.client import Client, Ended
from harness.origin import Close, HttpOrigin, ok, payload
from harness.timing import Stopwatch, limit
from http_support import (assert_made_by_proxy, chunked, expect_refusal, expect_success, request, send_and_end,
                          targets_seen, wire)

_VIA = re.compile(r"1\.[01] headrace( \([A-Za-z0-9]+\))?")
METHODS = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "PROPFIND", "M-SEARCH", "foo",
           "X!#$%&'*+-.^_`|~"]


@pytest.mark.parametrize("method", METHODS)
def test_any_method_is_forwarded(client, origin, method):
    client.send(request(f"http://{origin.authority}/p?q", method=method))
    expect_success(client, to=method)
    assert origin.requests[0].line == f"{method} /p?q HTTP/1.1".encode()


def test_options_of_a_whole_server(client, origin):
    """RFC 9112 section 3.2.4: OPTIONS without path and query is asked as `*`."""
    client.send(request(f"http://{origin.authority}", method="OPTIONS"))
    expect_success(client)
    assert origin.requests[0].target == "*"


@pytest.mark.parametrize("segments", [1, 7, 64])
def test_head_in_segments_of_any_size(client, origin, segments):
    whole = request(f"http://{origin.authority}/path", "X-A: 1")
    client.segments([whole[at:at + segments] for at in range(0, len(whole), segments)], gap=0.002)
    expect_success(client)
    assert origin.requests[0].get("x-a") == "1"


def test_http_1_0_client_is_closed_behind_the_answer(client, origin):
    """Even one that asks for keep-alive: RFC 9112 section 9.3."""
    client.send(request(f"http://{origin.authority}/", "Connection: keep-alive", version="1.0"))
    response = expect_success(client)
    assert response.get("connection") == "close"
    client.expect_end(how="eof")
    assert origin.requests[0].version == "HTTP/1.1"


def test_client_connection_is_kept(client, origin):
    for number in range(5):
        client.send(request(f"http://{origin.authority}/{number}"))
        assert expect_success(client).get("connection") in (None, "keep-alive")
    client.send(request("http://missing.example.test/"))  # also over a failure, and to other origins
    response = client.response()
    assert response.status == 502
    if response.get("connection") != "close":
        client.send(request(f"http://{origin.authority}/last"))
        expect_success(client)


def test_one_empty_line_before_a_request_is_skipped(client, origin):
    """RFC 9112 section 2.2: some clients send one behind a POST."""
    client.send(b"\r\n" + request(f"http://{origin.authority}/a"))
    expect_success(client)
    client.send(b"\r\n" + request(f"http://{origin.authority}/b"))
    expect_success(client)


# ---- answers ----

BODY = payload(200_000, seed=5)
_FRAMED = {
    "length": lambda: ok(BODY),
    "chunked": lambda: wire("HTTP/1.1 200 OK¶Transfer-Encoding: chunked¶¶")
    + chunked(*(BODY[at:at + 7777] for at in range(0, len(BODY), 7777))),
    "close": lambda: Close(b"HTTP/1.1 200 OK\r\n\r\n" + BODY),
    "1.0 and close": lambda: Close(b"HTTP/1.0 200 OK\r\n\r\n" + BODY),
    "length and close": lambda: Close(ok(BODY, "Connection: close")),
}


@pytest.mark.parametrize("version", ["1.1", "1.0"])
@pytest.mark.parametrize("framing", _FRAMED)
def test_answer_body_in_every_framing(client, framing, version):
    with HttpOrigin(lambda asked: _FRAMED[framing]()) as origin:
        client.send(request(f"http://{origin.authority}/", version=version))
        response = expect_success(client, BODY)
        if version == "1.0":
            assert response.framing in ("length", "close")
            client.expect_end(how="eof")
            return
        if response.framing == "close":
            return
        client.send(request(f"http://{origin.authority}/next"))
        expect_success(client, BODY)


@pytest.mark.parametrize("method, status, fields, length", [
    ("HEAD", "200 OK", ["Content-Length: 100"], "100"),
    ("HEAD", "200 OK", ["Transfer-Encoding: chunked"], None),
    ("GET", "204 No Content", [], None),
    ("GET", "204 No Content", ["Content-Length: 5"], None),
    ("GET", "304 Not Modified", ["Content-Length: 100"], "100"),
    ("GET", "304 Not Modified", ["ETag: \"x\""], None),
    ("POST", "204 No Content", [], None),
])
def test_answer_without_a_body_is_followed_by_the_next(client, method, status, fields, length):
    head = wire(f"HTTP/1.1 {status}¶" + "".join(f"{field}¶" for field in fields) + "¶")
    with HttpOrigin(lambda asked: ok(b"next") if asked.target == "/next" else head) as origin:
        client.send(request(f"http://{origin.authority}/", method=method)
                    + request(f"http://{origin.authority}/next"))
        response = client.response(to=method)
        assert f"{response.status} {response.reason}" == status
        assert response.get("content-length") == length
        expect_success(client, b"next")


def test_status_reason_and_odd_codes_pass(client):
    for line in ("200 Fine, thank you", "299", "499 Client", "599 x", "200 \xe4\xf6"):
        code, _, reason = line.partition(" ")
        head = f"HTTP/1.1 {line}{'' if reason else ' '}\r\nContent-Length: 0\r\n\r\n".encode("latin-1")
        with HttpOrigin(lambda asked, head=head: head) as origin:
            client.send(request(f"http://{origin.authority}/"))
            response = client.response()
            assert (str(response.status), response.reason) == (code, reason)


def test_answer_head_in_single_bytes(client):
    answer = ok(b"fine", "X-A: 1")
    with HttpOrigin(lambda asked: [bytes([byte]) for byte in answer], gap=0.002) as origin:
        client.send(request(f"http://{origin.authority}/"))
        assert expect_success(client).get("x-a") == "1"


@pytest.mark.parametrize("answer", [b"SSH-2.0-OpenSSH_9.2\r\n", b"\x16\x03\x01", b"HTTP/2.0 200 OK\r\n\r\n",
                                    b"HTTP/1.1 20 OK\r\n\r\n", b"HTTP/1.1 abc\r\n\r\n", b"\r\n\r\n",
                                    b"HTTP/1.1 200 OK\r\nX: " + b"a" * 100_000 + b"\r\n\r\n"],
                         ids=["ssh", "tls", "HTTP/2.0", "2 digits", "letters", "empty lines", "too long"])
def test_what_is_no_http_answer_becomes_502(client, answer):
    with HttpOrigin(lambda asked: send_and_end(asked.conn, answer)) as origin:
        client.send(request(f"http://{origin.authority}/"))
        assert_made_by_proxy(client.response(), 502)


@pytest.mark.parametrize("version, names", [("1.1", [103, 103, 102]), ("1.0", [])])
def test_interim_answers_pass_to_those_who_know_them(client, version, names):
    interim = (b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", b"HTTP/1.1 103 Early Hints\r\nLink: </b>\r\n\r\n",
               b"HTTP/1.1 102 Processing\r\n\r\n")
    with HttpOrigin(lambda asked: [*interim, ok(b"fine")], gap=0.02) as origin:
        client.send(request(f"http://{origin.authority}/", version=version))
        response = expect_success(client)
        assert [early.status for early in response.interim] == names
        if names:
            assert [early.get("link") for early in response.interim] == ["</a>", "</b>", None]


# ---- request bodies ----

@pytest.mark.parametrize("pieces", [1, 5])
@pytest.mark.parametrize("framing", ["length", "chunked"])
def test_request_body_in_every_framing(client, origin, framing, pieces):
    size = len(BODY) // pieces
    parts = [BODY[at:at + size] for at in range(0, len(BODY), size)]
    if framing == "length":
        client.send(request(f"http://{origin.authority}/", f"Content-Length: {len(BODY)}", method="POST"))
        client.segments(parts, gap=0.01)
    else:
        client.send(request(f"http://{origin.authority}/", "Transfer-Encoding: chunked", method="POST"))
        client.segments([*(b"%x\r\n%b\r\n" % (len(part), part) for part in parts), b"0\r\n\r\n"], gap=0.01)
    expect_success(client)
    assert origin.requests[0].body == BODY
    client.send(request(f"http://{origin.authority}/next"))
    expect_success(client)


def test_empty_bodies(client, origin):
    """Content-Length: 0 of a POST goes along; a GET does not get one."""
    client.send(request(f"http://{origin.authority}/", "Content-Length: 0", method="POST"))
    expect_success(client)
    client.send(request(f"http://{origin.authority}/", "Transfer-Encoding: chunked", method="POST") + b"0\r\n\r\n")
    expect_success(client)
    client.send(request(f"http://{origin.authority}/"))
    expect_success(client)
    post, empty, get = origin.requests
    assert post.get("content-length") == "0"
    assert empty.get("transfer-encoding") == "chunked" or empty.get("content-length") == "0"
    assert get.all("content-length") == get.all("transfer-encoding") == []


def test_http_1_0_request_with_a_length(client, origin):
    client.send(request(f"http://{origin.authority}/", method="POST", version="1.0", body=b"hello"))
    expect_success(client)
    assert origin.requests[0].body == b"hello"


@pytest.mark.parametrize("close", [False, True], ids=["origin goes on reading", "origin closes"])
@pytest.mark.parametrize("framing", ["length", "chunked"])
def test_early_final_answer_reaches_a_client_that_still_sends(client, framing, close):
    """The origin answers 413 while the body is on its way: the client gets it at once."""
    answer = ok(b"too much", *(["Connection: close"] if close else []), status="413 Content Too Large")

    def refuse(asked):
        asked.conn.read_until(lambda data: len(data) if len(data) >= 1000 else 0)
        asked.conn.send(answer)
        if close:
            asked.conn.fin()
        asked.conn.drain()
    with HttpOrigin(refuse, read_body=False) as origin:
        fields = ["Content-Length: 10000000"] if framing == "length" else ["Transfer-Encoding: chunked"]
        client.send(request(f"http://{origin.authority}/", *fields, method="POST"))
        piece = b"x" * 5000
        client.send(piece if framing == "length" else b"%x\r\n%b\r\n" % (len(piece), piece))
        watch = Stopwatch()
        response = client.response()
        assert (response.status, response.body) == (413, b"too much")
        assert watch.seconds < limit(1)


# ---- pipelining ----

def test_pipelined_requests_are_answered_in_order(client):
    def answer(asked):
        time.sleep({"/0": 0.2, "/1": 0.05}.get(asked.target, 0))
        return ok(asked.target.encode() + asked.body)
    with HttpOrigin(answer) as one, HttpOrigin(answer) as other:
        whole = b"".join([
            request(f"http://{one.authority}/0"), request(f"http://{other.authority}/1", method="POST", body=b"abc"),
            request(f"http://{one.authority}/2", "Transfer-Encoding: chunked", method="POST") + chunked(b"d", b"ef"),
            request(f"http://{other.authority}/3"), request(f"http://{one.authority}/4", method="HEAD"),
            request(f"http://{one.authority}/5")])
        client.send(whole)
        for expected in (b"/0", b"/1abc", b"/2def", b"/3"):
            expect_success(client, expected)
        expect_success(client, to="HEAD")
        expect_success(client, b"/5")


def test_many_pipelined_requests_with_a_slow_reader(client):
    """500 requests in one write; their answers stay in order however much is buffered."""
    with HttpOrigin(lambda asked: ok(asked.target.encode() * 100)) as origin:
        client.send(b"".join(request(f"http://{origin.authority}/{number:03}") for number in range(500)))
        for number in range(500):
            expect_success(client, b"/%03d" % number * 100)
        assert len(origin.connections) == 1


# ---- what the proxy is not ----

@pytest.mark.parametrize("head", ["GET / HTTP/1.1¶Host: o.example.test¶¶", "GET /x HTTP/1.0¶¶",
                                  "POST /x HTTP/1.1¶Host: o.example.test¶Content-Length: 5¶¶hello"])
def test_origin_form_is_told_that_this_is_a_proxy(client, origin, head):
    client.send(wire(head))
    response = expect_refusal(client, 400)
    assert "proxy" in response.text.lower()
    assert not origin.requests


@pytest.mark.parametrize("bytes_in", [b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(506), b"\x05\x01\x00",
                                      b"\x00\x00\x00\x00", b"GET http://o.example.test/ HTTP/2.0\r\n\r\n",
                                      b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"GET http://o.example.test/\r\n\r\n",
                                      b"GET  http://o.example.test/ HTTP/1.1\r\n\r\n", b"\r\n\r\n\r\n\r\n"],
                         ids=["tls", "socks5", "zeros", "HTTP/2.0", "h2 preface", "HTTP/0.9", "two blanks",
                              "empty lines"])
def test_other_protocols_are_refused(client, dns, bytes_in):
    client.send(bytes_in)
    try:
        response = client.response()
    except Ended:
        return  # an end without an answer is fine for what is no HTTP at all
    assert_made_by_proxy(response, 400, 501)
    client.expect_end()
    assert not dns.queries


# ---- Via, Max-Forwards, anonymity ----

def test_via_is_added_both_ways(proxy, client):
    with HttpOrigin(lambda asked: ok(b"fine", "Via: 1.1 far")) as origin:
        client.send(request(f"http://{origin.authority}/", "Via: 1.0 near, 1.1 nearer (x, y)"))
        response = expect_success(client)
        for found, before in ((origin.requests[0].all("via"), ["1.0 near, 1.1 nearer (x, y)"]),
                              (response.all("via"), ["1.1 far"])):
            assert found[:-1] == before and _VIA.fullmatch(found[-1]), found
            assert found[-1].startswith("1.1 ")
        with Client(proxy.address) as old:
            old.send(request(f"http://{origin.authority}/", version="1.0"))
            expect_success(old)
        assert origin.requests[1].all("via")[-1].startswith("1.0 headrace")


def test_client_stays_anonymous(client, origin):
    client.send(request(f"http://{origin.authority}/", "X-Forwarded-For: 203.0.113.7", "User-Agent: mine/1"))
    expect_success(client)
    head = origin.requests[0].head
    assert b"127.0.0.1:%d" % client.socket.getsockname()[1] not in head
    assert origin.requests[0].all("x-forwarded-for") in ([], ["203.0.113.7"])  # none of ours
    assert origin.requests[0].all("forwarded") == []
    assert origin.requests[0].all("user-agent") == ["mine/1"]
    assert origin.requests[0].all("accept") == []


def test_loop_is_seen_by_via(proxy, client, origin):
    client.send(request(f"http://{origin.authority}/"))
    expect_success(client)
    ours = origin.requests[0].get("via")
    for via in (ours, f"1.1 first, {ours}", f"{ours}, 1.1 last", "1.1 headrace"):
        with Client(proxy.address) as again:
            again.send(request(f"http://{origin.authority}/loop", f"Via: {via}"))
            expect_refusal(again, 508, error="proxy_loop_detected", ends=False)
    assert targets_seen(proxy, origin) == ["/"]


@pytest.mark.parametrize("via", ["1.1 headrace (another)", "1.1 notheadrace", "1.1 headrace.example",
                                 "1.1 x (headrace)"])
def test_another_proxys_via_is_no_loop(client, origin, via):
    client.send(request(f"http://{origin.authority}/", f"Via: {via}"))
    expect_success(client)


@pytest.mark.parametrize("method", ["TRACE", "OPTIONS"])
def test_max_forwards_counts_down_and_ends_here(client, proxy, origin, method):
    """RFC 9110 section 7.6.2."""
    client.send(request(f"http://{origin.authority}/", "Max-Forwards: 5", method=method))
    expect_success(client)
    assert origin.requests[0].get("max-forwards") == "4"
    client.send(request(f"http://{origin.authority}/no", "Max-Forwards: 0", method=method))
    client.response()
    assert targets_seen(proxy, origin) == ["/"]
