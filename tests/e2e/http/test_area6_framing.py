"""Field cases of area 6: message framing and smuggling."""

import time

import pytest

from harness.client import Client
from harness.origin import Close, HttpOrigin, ok
from http_support import (assert_made_by_proxy, chunked, expect_refusal, expect_success, request,
                          send_what_is_taken, targets_seen, wire)

# What a message may cost, generous enough for a sanitizer build; announced sizes are far beyond it.
MEMORY_KIB_MAX = 32 * 1024


def post(origin, fields, rest):
    """A POST in the notation, with `fields` as they are and `rest` behind the head."""
    return wire(f"POST http://{origin.authority}/ HTTP/1.1¶Host: {origin.authority}¶{fields}¶{rest}")


def bodies(origin):
    """The bodies of the requests that the origin has got as a whole."""
    return [seen.body for seen in origin.requests if seen.whole]


@pytest.mark.parametrize("fields", ["Content-Length: 4¶Transfer-Encoding: chunked¶",
                                    "Transfer-Encoding: chunked¶Content-Length: 4¶"],
                         ids=["length first", "coding first"])
def test_B066_length_with_coding_is_refused(proxy, client, origin, fields):
    """Both fields were forwarded, and the origin chose the other one."""
    smuggled = f"GET http://{origin.authority}/smuggled HTTP/1.1¶Host: {origin.authority}¶¶"
    client.send(post(origin, fields, "0¶¶" + smuggled))
    expect_refusal(client, 400)
    assert targets_seen(proxy, origin) == []


@pytest.mark.parametrize("value", ["Chunked", "chunked", "CHUNKED", "\tchunked "], ids=ascii)
def test_B068_chunked_in_any_case(client, origin, value):
    """The coding was compared with case, and a body was taken for the next request."""
    client.send(post(origin, f"Transfer-Encoding: {value}¶", "5¶hello¶0¶¶"))
    expect_success(client)
    assert bodies(origin) == [b"hello"]
    assert origin.requests[0].get("transfer-encoding") == "chunked"


@pytest.mark.parametrize("values, statuses", [
    (["xchunked"], (400,)), (["chunkedx"], (400,)), (["chunked, identity"], (400,)), ([""], (400,)),
    (['"chunked"'], (400,)), (["chunked;q=1"], (400,)), (["chunked", "chunked"], (400,)),
    (["chunked, chunked"], (400,)), (["gzip"], (400,)), (["identity"], (400,)),
    (["identity, chunked"], (400, 501)), (["identity", "chunked"], (400, 501)), (["gzip, chunked"], (400, 501)),
    (["chunked,"], (400,)), ([",chunked"], (400,)), (["chunked", ""], (400,)), (["chunked "+"\x0b"], (400,)),
], ids=lambda value: ascii("+".join(map(str, value))))
def test_B068_disguised_chunked_is_refused(proxy, client, origin, values, statuses):
    """Prefixes, empty members and wrong positions were accepted or ignored."""
    client.send(post(origin, "".join(f"Transfer-Encoding: {value}¶" for value in values), "5¶hello¶0¶¶"))
    expect_refusal(client, *statuses)
    assert targets_seen(proxy, origin) == []


def test_B068_chunked_from_an_http_1_0_client_is_refused(client, origin):
    """RFC 9112 section 6.1: Transfer-Encoding in HTTP/1.0 is faulty framing."""
    client.send(wire(f"POST http://{origin.authority}/ HTTP/1.0¶Transfer-Encoding: chunked¶¶5¶hello¶0¶¶"))
    expect_refusal(client, 400)
    assert not origin.requests


@pytest.mark.parametrize("values", [["5", "5"], ["5, 5"], ["005"]], ids="+".join)
def test_B070_equal_lengths_become_one(client, origin, values):
    """Lists of lengths were passed to a weaker origin, which read them as something else."""
    client.send(post(origin, "".join(f"Content-Length: {value}¶" for value in values), "hello"))
    response = client.response()
    if response.status == 400:
        assert_made_by_proxy(response, 400)
        assert not origin.requests
        return
    assert response.status == 200, response
    assert origin.requests[0].get("content-length").lstrip("0") == "5"
    assert bodies(origin) == [b"hello"]


@pytest.mark.parametrize("values", [["5", "6"], ["5,6"], [""], ["", "5"], ["+5"], ["-1"], ["0x5"], ["5 5"], ["5;"],
                                    ["18446744073709551621"], ["5,"], [",5"], ["5.0"], ["9" * 4000]],
                         ids=lambda values: "+".join(values)[:25] or "empty")
def test_B070_length_that_is_none_is_refused(proxy, client, origin, values):
    """Empty, signed and overflowing values were taken as 0."""
    client.send(post(origin, "".join(f"Content-Length: {value}¶" for value in values), "hello"))
    expect_refusal(client, 400)
    assert targets_seen(proxy, origin) == []


@pytest.mark.parametrize("values", [["5", "6"], ["5,6"], [""], ["+5"], ["-1"], ["0x5"], ["18446744073709551621"]],
                         ids=lambda values: "+".join(values) or "empty")
def test_B070_answer_with_a_length_that_is_none(client, values):
    """The same in an answer: where it ends cannot be known."""
    lines = "".join(f"Content-Length: {value}¶" for value in values)
    with HttpOrigin(lambda request: wire(f"HTTP/1.1 200 OK¶{lines}¶hello")) as origin:
        client.send(request(f"http://{origin.authority}/"))
        assert_made_by_proxy(client.response(), 502, error="http_protocol_error")
        assert origin.connections[0].wait_ended()


BAD_CHUNK_LINES = ["-1", "FFFFFFFFFFFFFFFF", "10000000000000005", "0x5", "5 ", " 5", "G", "", "5\t", "+5", "5,5"]


@pytest.mark.parametrize("line", BAD_CHUNK_LINES, ids=repr)
def test_B072_chunk_size_that_is_none_from_a_client(proxy, client, origin, line):
    """Negative and huge sizes gave endless loops or memory use."""
    before = proxy.rss_kib()
    client.send(post(origin, "Transfer-Encoding: chunked¶", f"{line}¶hello¶0¶¶"))
    expect_refusal(client, 400)
    origin.expect_none_complete()
    assert proxy.rss_kib() < before + MEMORY_KIB_MAX


@pytest.mark.parametrize("line", BAD_CHUNK_LINES, ids=repr)
def test_B072_chunk_size_that_is_none_from_an_origin(proxy, client, line):
    """The same in an answer: 502, or an answer that visibly does not end."""
    before = proxy.rss_kib()
    answer = wire(f"HTTP/1.1 200 OK¶Transfer-Encoding: chunked¶¶{line}¶hello¶0¶¶")
    with HttpOrigin(lambda request: answer) as origin:
        client.send(request(f"http://{origin.authority}/"))
        response = client.response()
        if response.status == 200:
            assert not response.clean and response.body == b"", response
        else:
            assert_made_by_proxy(response, 502, error="http_protocol_error")
        assert origin.connections[0].wait_ended()
    assert proxy.rss_kib() < before + MEMORY_KIB_MAX


def test_B072_announced_2_gib_are_not_allocated(proxy, client, origin):
    """The same: 80000000 is a size, but no reason to take memory; then the client goes."""
    before = proxy.rss_kib()
    client.send(post(origin, "Transfer-Encoding: chunked¶", "80000000¶hello"))
    origin.wait_requests()
    origin.connections[0].wait_received(len(origin.requests[0].head) + 5)
    assert proxy.rss_kib() < before + MEMORY_KIB_MAX
    proxy.assert_cpu_quiet(1.0)
    client.reset()
    assert origin.connections[0].wait_ended()
    origin.expect_none_complete()


def test_B072_5000_zeros_in_front_of_a_chunk_size(client, origin):
    """The same: bounded, refused or read as 5."""
    client.send(post(origin, "Transfer-Encoding: chunked¶", "0" * 5000 + "5¶hello¶0¶¶"))
    response = client.response()
    assert response.status in (200, 400), response
    if response.status == 200:
        assert bodies(origin) == [b"hello"]
    else:
        origin.expect_none_complete()


@pytest.mark.parametrize("body", ['5;a=b;c="d;e"¶hello¶0;last¶¶', "5 ;a¶hello¶0¶¶", "5 ; a = b¶hello¶0 ;x¶¶"])
@pytest.mark.parametrize("way", ["request", "answer"])
def test_B074_chunk_extensions_pass_or_are_dropped(client, body, way):
    """Valid extensions were refused."""
    answer = ok(b"fine") if way == "request" else wire(f"HTTP/1.1 200 OK¶Transfer-Encoding: chunked¶¶{body}")
    with HttpOrigin(lambda request: answer) as origin:
        client.send(post(origin, "Transfer-Encoding: chunked¶", body if way == "request" else "0¶¶"))
        expect_success(client, b"fine" if way == "request" else b"hello")
        assert bodies(origin) == [b"hello" if way == "request" else b""]


def test_B074_1_mib_of_extension_is_refused(client, origin):
    """Extensions are bounded in all."""
    send_what_is_taken(client, post(origin, "Transfer-Encoding: chunked¶", "5;" + "a" * 1024 * 1024 + "¶hello¶0¶¶"))
    expect_refusal(client, 400)
    origin.expect_none_complete()


@pytest.mark.parametrize("extension", ["a\x01b", "a␀b", "a␍b", "a␊b", 'a="␀"', "\x7f"], ids=ascii)
def test_B074_control_byte_in_an_extension_is_refused(client, origin, extension):
    """Control bytes in extensions were accepted."""
    client.send(post(origin, "Transfer-Encoding: chunked¶", f"5;{extension}¶hello¶0¶¶"))
    expect_refusal(client, 400)
    origin.expect_none_complete()


def test_B076_answer_with_a_trailer_and_the_next_one(client):
    """The rest of the trailer stayed behind as the beginning of the next answer."""
    first = ["HTTP/1.1 200 OK¶Transfer-Encoding: chunked¶¶5¶hello¶0¶", "X-Sum: 1¶", "X-Two: 2¶", "¶"]
    with HttpOrigin(lambda request: [wire(part) for part in first] if request.target == "/1" else ok(b"second")) \
            as origin:
        for _ in range(2):
            client.send(request(f"http://{origin.authority}/1"))
            response = expect_success(client, b"hello")
            assert response.trailers in ([("X-Sum", "1"), ("X-Two", "2")], []), response
            assert response.all("x-sum") == response.all("x-two") == []
            client.send(request(f"http://{origin.authority}/2"))
            expect_success(client, b"second")
        assert len(origin.connections) == 1


def test_B076_request_with_a_trailer(client, origin):
    """The same in a request; the connection goes on."""
    client.send(request(f"http://{origin.authority}/", "Transfer-Encoding: chunked", "Trailer: X-Sum", method="PUT")
                + chunked(b"hello", trailer=b"X-Sum: 1\r\nContent-Length: 9\r\n"))
    expect_success(client)
    seen = origin.requests[0]
    assert seen.body == b"hello"
    assert seen.trailers in ([("X-Sum", "1")], []), seen.trailers
    assert seen.all("x-sum") == seen.all("content-length") == []
    client.send(request(f"http://{origin.authority}/next"))
    expect_success(client)


_CUT = {
    "half a chunk": "a¶hell",
    "whole chunks": "5¶hello¶",
    "last chunk line alone": "5¶hello¶0¶",
    "nothing behind the head": "",
}


@pytest.mark.parametrize("name", _CUT)
@pytest.mark.parametrize("version", ["1.1", "1.0"])
def test_B078_chunked_answer_that_is_cut_does_not_end_cleanly(client, name, version):
    """A cut answer was completed politely, and the client took it for whole."""
    answer = Close(wire("HTTP/1.1 200 OK¶Transfer-Encoding: chunked¶¶" + _CUT[name]))
    with HttpOrigin(lambda request: answer) as origin:
        client.send(request(f"http://{origin.authority}/", version=version))
        response = client.response()
        if response.status == 200:
            assert not response.clean, response
            assert b"0\r\n\r\n" not in response.raw[len(response.head):]
            if version == "1.0":
                assert client.ended == "reset", response
        else:
            assert_made_by_proxy(response, 502)


@pytest.mark.parametrize("version", ["1.1", "1.0"])
@pytest.mark.parametrize("body", [b"hell", b""], ids=["some of it", "nothing of it"])
def test_B078_answer_shorter_than_its_length_does_not_end_cleanly(client, body, version):
    """The same where the length says that bytes are missing."""
    answer = Close(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + body)
    with HttpOrigin(lambda request: answer) as origin:
        client.send(request(f"http://{origin.authority}/", version=version))
        response = client.response()
        if response.status == 200:
            assert not response.clean and response.framing == "length", response
        else:
            assert_made_by_proxy(response, 502)


@pytest.mark.parametrize("text", [
    "GET http://{o}/ HTTP/1.1␊Host: {o}␊X: y␊␊", "GET http://{o}/ HTTP/1.1¶Host: {o}¶X: a␊Y: b¶¶",
    "GET http://{o}/ HTTP/1.1¶Host: {o}¶X: a␍Y: b¶¶", "GET http://{o}/ HTTP/1.1␊Host: {o}¶¶",
    "GET http://{o}/ HTTP/1.1¶Host: {o}¶␊", "GET http://{o}/ HTTP/1.1␍Host: {o}¶¶"],
    ids=["LF everywhere", "LF in a value", "CR in a value", "LF after the request line", "LF at the end",
         "CR after the request line"])
def test_B080_bare_line_ends_are_refused(proxy, client, origin, text):
    """LF-only lines were forwarded as they came, and the next hop read them as blanks."""
    client.send(wire(text.format(o=origin.authority)))
    expect_refusal(client, 400)
    assert targets_seen(proxy, origin) == []


@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE", "FOO"])
def test_B082_a_body_belongs_to_every_method(proxy, client, origin, method):
    """A hop that thought GET had no body left it for the next request."""
    smuggled = f"GET http://{origin.authority}/smuggled HTTP/1.1\r\nX: ".encode().ljust(60, b"y")
    client.send(request(f"http://{origin.authority}/", method=method, body=smuggled))
    expect_success(client, to=method)
    assert [(seen.method, seen.body) for seen in origin.requests] == [(method, smuggled)]
    assert targets_seen(proxy, origin) == ["/"]


@pytest.mark.parametrize("gap", [0, 0.2], ids=["in the same segment", "200 ms later"])
def test_B084_surplus_bytes_of_an_origin_are_nobodys_answer(proxy, gap):
    """Bytes behind the body stayed in the pooled connection and became the next client's answer."""
    evil = ok(b"EVIL")

    def answer(asked):
        if asked.target != "/first":
            return ok(b"true")
        return [ok(b"hello"), evil] if gap else ok(b"hello") + evil
    with HttpOrigin(answer, gap=gap) as origin, Client(proxy.address) as first:
        first.send(request(f"http://{origin.authority}/first"))
        expect_success(first, b"hello")
        time.sleep(2 * gap)  # the surplus comes while the connection idles
        assert origin.connections[0].wait_ended(), "a connection with surplus bytes is closed"
        for path in ("/second", "/third"):
            with Client(proxy.address) as other:
                other.send(request(f"http://{origin.authority}{path}"))
                expect_success(other, b"true")
        first.send(request(f"http://{origin.authority}/again"))
        expect_success(first, b"true")
        assert [seen.target for seen in origin.requests if seen.on_connection == 0] == ["/first"]
