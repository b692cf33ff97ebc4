"""Field cases of area 5: header fields."""

import pytest

from harness.client import Client
from harness.origin import HttpOrigin, ok
from harness.timing import limit
from http_support import (assert_made_by_proxy, basic, chunked, expect_no_reset, expect_refusal, expect_success,
                          request, send_what_is_taken, wire)

# What a proxy adds to a message on its own.
_OURS = {"via", "connection", "content-length", "transfer-encoding", "host"}


def passed(fields):
    """The fields that came from the far end, in order."""
    return [(name, value) for name, value in fields if name.lower() not in _OURS]


@pytest.mark.parametrize("connection", [
    ["Connection: x-foo , close", "Connection: X-Bar"],
    ["Connection: X-FOO,,x-bar"],
    ["connection: close, x-foo", "CONNECTION:\tX-Bar\t"],
])
def test_B052_fields_named_by_connection_go_no_further(proxy, connection):
    """Only the Connection field itself was removed."""
    fields = [*connection, "X-Foo: 1", "x-bar: 2", "X-Keep: 3"]
    with HttpOrigin(lambda request: ok(b"fine", *fields)) as origin, Client(proxy.address) as client:
        client.send(request(f"http://{origin.authority}/", *fields))
        response = expect_success(client)
        assert passed(origin.requests[0].fields) == [("X-Keep", "3")]
        assert not origin.requests[0].all("connection") or origin.requests[0].get("connection") == "close"
        assert passed(response.fields) == [("X-Keep", "3")]


def test_B052_framing_cannot_be_named_away(proxy, origin):
    """A client that names Content-Length or Host in Connection must not change what the origin reads."""
    with Client(proxy.address) as client:
        client.send(request(f"http://{origin.authority}/", "Connection: content-length, host, via",
                            method="POST", body=b"12345"))
        expect_success(client)
    assert origin.requests[0].body == b"12345"
    assert origin.requests[0].get("host") == origin.authority
    assert origin.requests[0].all("via")


def test_B054_hop_by_hop_fields_go_no_further(proxy):
    """Proxy-Connection, Keep-Alive, TE, Trailer, Upgrade or Proxy-Authorization reached the far end."""
    asked = ["Proxy-Connection: keep-alive", "Keep-Alive: timeout=9", "TE: trailers", "Trailer: X-Sum",
             "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA", basic("u", "p"), "Proxy-Authenticate: x",
             "X-Keep: 1"]
    answered = ["Proxy-Authenticate: Basic", "Keep-Alive: timeout=5", "Proxy-Connection: close",
                "Trailer: X-Sum", "TE: trailers", "Upgrade: h2c", "Proxy-Authentication-Info: x", "X-Keep: 2"]
    with HttpOrigin(lambda request: ok(b"fine", *answered)) as origin, Client(proxy.address) as client:
        client.send(request(f"http://{origin.authority}/", *asked))
        response = expect_success(client)
        assert passed(origin.requests[0].fields) == [("X-Keep", "1")]
        assert not origin.requests[0].all("connection")
        assert passed(response.fields) == [("X-Keep", "2")]


def test_B056_repeated_fields_keep_number_order_and_case(proxy):
    """A hash map kept one Set-Cookie and changed the order."""
    asked = [("X-A", "1"), ("Cookie", "a=1"), ("zZ-Odd", "x"), ("Accept", "*/*"), ("X-A", "2"), ("Cookie", "b=2"),
             ("x-a", "3"), ("Empty", "")]
    answered = [("Set-Cookie", "a=1; Path=/"), ("Vary", "Accept"), ("zZ-oDD", "1"), ("Set-Cookie", "b=2"),
                ("ETag", '"x"'), ("Vary", "Cookie"), ("set-cookie", "c=3"), ("Server", "o"), ("Empty", "")]
    lines = [f"{name}: {value}" for name, value in answered]
    with HttpOrigin(lambda request: ok(b"fine", *lines)) as origin, Client(proxy.address) as client:
        client.send(request(f"http://{origin.authority}/", *(f"{name}: {value}" for name, value in asked)))
        response = expect_success(client)
        assert passed(origin.requests[0].fields) == asked
        assert passed(response.fields) == answered


_LONG = {
    "request line of 100000 bytes": (414, lambda o: f"GET http://{o}/{'a' * 100_000} HTTP/1.1¶Host: {o}¶¶"),
    "field of 100000 bytes": (431, lambda o: f"GET http://{o}/ HTTP/1.1¶Host: {o}¶X-Long: {'a' * 100_000}¶¶"),
    "1000 fields of 100 bytes": (431, lambda o: f"GET http://{o}/ HTTP/1.1¶Host: {o}¶"
                                 + "".join(f"X-{n:04}: {'a' * 92}¶" for n in range(1000)) + "¶"),
}


@pytest.mark.parametrize("segment_bytes", [1024, None], ids=["1 KiB segments", "one write"])
@pytest.mark.parametrize("name", _LONG)
def test_B058_head_that_is_too_long(client, origin, name, segment_bytes):
    """The wrong one of 414 and 431 came, or the connection was closed before the answer could be read."""
    status, text = _LONG[name]
    send_what_is_taken(client, wire(text(origin.authority)), segment_bytes, gap=0.001 if segment_bytes else 0)
    expect_no_reset(client)
    expect_refusal(client, status)
    assert not origin.connections


_CONTROLS = ["a␀b", "a␍b", "a␊b", "a\x01b", "a\x7fb"]


@pytest.mark.parametrize("value", _CONTROLS, ids=ascii)
def test_B060_control_byte_in_a_request_field(client, origin, value):
    """NUL passed through and cut the value at the next hop."""
    client.send(wire(f"GET http://{origin.authority}/ HTTP/1.1¶Host: {origin.authority}¶X-A: {value}¶¶"))
    expect_refusal(client, 400)
    assert not origin.requests


@pytest.mark.parametrize("value", _CONTROLS, ids=ascii)
def test_B060_control_byte_in_an_answer_field(proxy, client, value):
    """The same in an answer."""
    with HttpOrigin(lambda request: wire(f"HTTP/1.1 200 OK¶X-A: {value}¶Content-Length: 4¶¶fine")) as origin:
        client.send(request(f"http://{origin.authority}/"))
        assert_made_by_proxy(client.response(), 502, error="http_protocol_error")
        assert origin.connections[0].wait_ended()


@pytest.mark.parametrize("value", _CONTROLS, ids=ascii)
def test_B060_control_byte_in_a_request_trailer(client, origin, value):
    """The same in a trailer: the origin must not get a complete request that carries it."""
    client.send(request(f"http://{origin.authority}/", "Transfer-Encoding: chunked", method="POST")
                + chunked(b"hello", trailer=wire(f"X-A: {value}¶")))
    expect_refusal(client, 400)
    origin.expect_none_complete()


@pytest.mark.parametrize("value", _CONTROLS, ids=ascii)
def test_B060_control_byte_in_an_answer_trailer(client, value):
    """The same: the answer is not completed, since its end did not come as it has to."""
    answer = (wire("HTTP/1.1 200 OK¶Transfer-Encoding: chunked¶¶")
              + chunked(b"hello", trailer=wire(f"X-A: {value}¶")))
    with HttpOrigin(lambda request: answer) as origin:
        client.send(request(f"http://{origin.authority}/"))
        response = client.response()
        if response.status == 200:
            assert not response.clean, response
        else:
            assert_made_by_proxy(response, 502, error="http_protocol_error")
        assert origin.connections[0].wait_ended()


@pytest.mark.parametrize("field", ["Transfer-Encoding : chunked", "Content-Length\t: 5", "X-A : 1", " X-A: 1",
                                   "X A: 1", ": 1", "X-A"], ids=ascii)
def test_B062_blank_before_the_colon_in_a_request(client, origin, field):
    """The field was stored under a name with a blank, so that framing fields were missed."""
    client.send(wire(f"POST http://{origin.authority}/ HTTP/1.1¶Host: {origin.authority}¶{field}¶¶5¶hello¶0¶¶"))
    expect_refusal(client, 400)
    assert not origin.requests


@pytest.mark.parametrize("field, body", [("Transfer-Encoding : chunked", "5¶hello¶0¶¶"),
                                         ("Content-Length\t: 5", "hello")], ids=ascii)
def test_B062_blank_before_the_colon_in_an_answer(client, field, body):
    """The same in an answer: understood and sent on without the blank, or 502; never taken for something else."""
    with HttpOrigin(lambda request: wire(f"HTTP/1.1 200 OK¶{field}¶¶{body}")) as origin:
        client.socket.settimeout(limit(2))
        client.send(request(f"http://{origin.authority}/"))
        response = client.response()
        if response.status == 200:
            assert response.body == b"hello" and response.clean, response
        else:
            assert_made_by_proxy(response, 502, error="http_protocol_error")


@pytest.mark.parametrize("name", ["Proxy", "PROXY", "proxy"])
def test_B064_proxy_field_is_not_forwarded(client, origin, name):
    """A client's field `Proxy:` became an environment variable of CGI programs behind the proxy."""
    client.send(request(f"http://{origin.authority}/", f"{name}: http://192.0.2.9:3128"))
    expect_success(client)
    assert origin.requests[0].all("proxy") == []
