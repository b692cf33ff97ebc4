"""The answers that the proxy makes itself: status, reason for people, Proxy-Status (RFC 9209) for programs."""

import contextlib

import pytest

from harness import dns as names
from harness.client import Client, connect_head
from harness.netns import TwoHosts
from harness.origin import Close, HttpOrigin, Origin, Reset, ok, silent
from harness.proxy import Proxy
from harness.timing import Stopwatch, limit
from http_support import assert_made_by_proxy, expect_refusal, expect_success, request, wire


@pytest.fixture(name="unused_port")
def unused_port_fixture():
    with Origin(silent) as gone:
        port = gone.port
    return port


def both_ways(host, port):
    """The same destination as a CONNECT and as a GET: (method, bytes)."""
    return [("CONNECT", connect_head(host, port)), ("GET", request(f"http://{host}:{port}/"))]


def expect_for_both(proxy, host, port, status, error, client_options=None):
    """Both are refused with that status; returns the texts."""
    texts = []
    for method, message in both_ways(host, port):
        with Client(proxy.address, **(client_options or {})) as client:
            client.send(message)
            response = client.response(to=method)
            assert_made_by_proxy(response, status, to=method, error=error)
            texts.append(response.text)
    return texts


def test_400_malformed(client):
    client.send(b"GET http://o.example.test/ HTTP/1.1\r\nHost: o.example.test\r\nX\r\n\r\n")
    expect_refusal(client, 400, error="http_request_error")


def test_403_connect_port(client):
    client.send(connect_head("o.example.test", 25))
    response = expect_refusal(client, 403, to="CONNECT", error="http_request_denied")
    assert "port" in response.text


def test_403_client_network(dns, origin):
    with Proxy("http", "--allow", "127.0.0.2/32", *dns.options()) as proxy, Client(proxy.address) as client:
        client.send(request(f"http://{origin.authority}/"))
        expect_refusal(client, 403, error="http_request_denied", ends=False)
        assert not origin.connections


def test_403_inside(dns):
    """From a client that is not on loopback: loopback, private and link-local destinations."""
    with TwoHosts() as net, Proxy("http", "--open", listen=f"{net.inside_v4}:0", netns=net.inside) as proxy:
        for host in ("127.0.0.1", "10.0.0.1", "169.254.169.254"):
            expect_for_both(proxy, host, 8080, 403, "destination_ip_prohibited", {"netns": net.outside})


def test_407(dns):
    with Proxy("http", "--user", "u:p", *dns.options()) as proxy:
        expect_for_both(proxy, "o.example.test", 8080, 407, "http_request_denied")


def test_408_head_that_does_not_come(dns):
    with Proxy("http", *dns.options(), "--set", "setup_timeout=1s") as proxy, Client(proxy.address) as client:
        watch = Stopwatch()
        client.send(b"GET http://o.example.test/ HTTP/1.1\r\n")
        expect_refusal(client, 408)
        assert 0.8 < watch.seconds < limit(2.5)


def test_408_or_nothing_where_no_byte_came(dns):
    """Browsers open connections ahead of need; those are closed, at most with a 408."""
    with Proxy("http", *dns.options(), "--set", "setup_timeout=1s") as proxy, Client(proxy.address) as client:
        got = client.to_end()
        assert client.ended == "eof"
        assert not got or got.startswith(b"HTTP/1.1 408 ")


def test_408_trickling_does_not_extend_the_limit(dns):
    """setup_timeout is for all of set-up, not for each byte."""
    with Proxy("http", *dns.options(), "--set", "setup_timeout=1s") as proxy, Client(proxy.address) as client:
        watch = Stopwatch()
        client.segments([b"GET http://o.example.test/ HTTP/1.1\r\n"] + [b"X"] * 8, gap=0.2)
        expect_refusal(client, 408)
        assert watch.seconds < limit(2.5)


def test_414_request_line(client):
    client.send(wire("GET http://o.example.test/" + "a" * 20_000 + " HTTP/1.1¶Host: o.example.test¶¶"))
    expect_refusal(client, 414, error="http_request_error")


def test_431_fields(client):
    client.send(wire("GET http://o.example.test/ HTTP/1.1¶Host: o.example.test¶X: " + "a" * 20_000 + "¶¶"))
    expect_refusal(client, 431, error="http_request_error")


def test_head_of_almost_16_kib_is_accepted(client, origin):
    frame = request(f"http://{origin.authority}/", "X-Long: ")
    client.send(request(f"http://{origin.authority}/", "X-Long: " + "a" * (16 * 1024 - len(frame))))
    expect_success(client)


def test_501_scheme(client):
    client.send(request("https://o.example.test/"))
    expect_refusal(client, 501)


def test_502_refused(proxy, unused_port):
    for text in expect_for_both(proxy, "o.example.test", unused_port, 502, "connection_refused"):
        assert "refused" in text


def test_502_unknown_name(proxy):
    for text in expect_for_both(proxy, "missing.example.test", 8080, 502, {"dns_error", "destination_not_found"}):
        assert "name" in text


def test_502_resolver_fails(proxy, dns):
    dns.on("broken.example.test", names.servfail)
    dns.on("refused.example.test", names.refused)
    for name in ("broken.example.test", "refused.example.test"):
        expect_for_both(proxy, name, 8080, 502, "dns_error")


def test_502_unreachable():
    with TwoHosts() as net, Proxy("http", "--open", listen=f"{net.inside_v4}:0", netns=net.inside) as proxy:
        net.add_unreachable("198.51.100.1", "unreachable")
        expect_for_both(proxy, "198.51.100.1", 8080, 502, {"destination_ip_unroutable", "destination_unavailable"},
                        {"netns": net.outside})


@pytest.mark.parametrize("answer, error", [
    (Close(b""), {"http_response_incomplete", "connection_terminated"}),
    (Reset(b""), {"http_response_incomplete", "connection_terminated"}),
    (Close(b"HTTP/1.1 200 OK\r\nContent-Le"), {"http_response_incomplete", "connection_terminated"}),
    (Close(b"nonsense\r\n\r\n"), {"http_protocol_error"}),
], ids=["end", "reset", "half a head", "nonsense"])
def test_502_origin_that_fails(client, answer, error):
    with HttpOrigin(lambda asked: answer) as origin:
        client.send(request(f"http://{origin.authority}/", method="POST", body=b"x"))
        assert_made_by_proxy(client.response(), 502, error=error)


def test_503_out_of_descriptors(dns):
    """Where accept still works and the way to the upstream needs a descriptor more than there is."""
    with Origin(silent) as origin:
        refused = []
        for nofile in (60, 61):
            with Proxy("http", "--workers", "1", *dns.options(), rlimit_nofile=nofile) as proxy, \
                 contextlib.ExitStack() as clients:
                for _ in range(nofile):
                    client = clients.enter_context(Client(proxy.address, timeout=1))
                    try:
                        client.send(connect_head(*origin.address))
                        response = client.response(to="CONNECT")
                    except (AssertionError, ConnectionError):
                        break  # accept itself failed, before the request was sent or after
                    if response.status != 200:
                        assert_made_by_proxy(response, 503, to="CONNECT")
                        refused.append(response)
                        break
        assert refused


def test_504_connect():
    with TwoHosts() as net, Proxy("http", "--open", "--set", "connect_timeout=1s", listen=f"{net.inside_v4}:0",
                                  netns=net.inside) as proxy:
        net.add_black_hole("198.51.100.2")
        watch = Stopwatch()
        expect_for_both(proxy, "198.51.100.2", 8080, 504, "connection_timeout", {"netns": net.outside})
        assert 1.6 < watch.seconds < limit(5)


def test_504_resolver_that_says_nothing(dns):
    dns.on("silent.example.test", names.silent)
    with Proxy("http", *dns.options(), "--set", "dns_timeout=1s") as proxy:
        expect_for_both(proxy, "silent.example.test", 8080, 504, "dns_timeout")


def test_504_origin_that_says_nothing(dns):
    with Origin(silent) as origin, Proxy("http", *dns.options(), "--set", "answer_timeout=1s") as proxy, \
         Client(proxy.address) as client:
        watch = Stopwatch()
        client.send(request(f"http://{origin.authority}/"))
        assert_made_by_proxy(client.response(), 504, error={"http_response_timeout", "connection_read_timeout"})
        assert 0.8 < watch.seconds < limit(3)
        assert origin.connections[0].wait_ended()


def test_answer_timeout_is_not_for_the_rest_of_an_answer(dns):
    """It is the time to an answer's first byte: a slow body is nobody's fault."""
    pieces = [b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n", *[b"x"] * 6]
    with HttpOrigin(lambda asked: pieces, gap=0.4) as origin, \
         Proxy("http", *dns.options(), "--set", "answer_timeout=1s") as proxy, Client(proxy.address) as client:
        client.send(request(f"http://{origin.authority}/"))
        expect_success(client, b"xxxxxx")


def test_508_own_listener(proxy):
    for method, message in both_ways("127.0.0.1", proxy.port):
        with Client(proxy.address) as client:
            client.send(message)
            assert_made_by_proxy(client.response(to=method), 508, to=method, error="proxy_loop_detected")


@pytest.mark.parametrize("url, status", [("http://missing.example.test/", 502), ("https://o.example.test/", 501),
                                         ("http://o.example.test:99999/", 400)])
def test_error_to_a_head_request_has_no_body(client, origin, url, status):
    client.send(request(url, method="HEAD"))
    response = client.response(to="HEAD")
    assert_made_by_proxy(response, status, to="HEAD")
    if response.get("connection") == "close":
        client.expect_end()
    else:
        client.send(request(f"http://{origin.authority}/"))
        expect_success(client)


def test_error_while_the_client_sends_its_body(client, unused_port):
    """The answer comes without waiting for the rest, and is not lost behind it."""
    client.send(request(f"http://127.0.0.1:{unused_port}/", "Content-Length: 10000000", method="POST") + b"x" * 50_000)
    watch = Stopwatch()
    expect_refusal(client, 502, error="connection_refused")
    assert watch.seconds < limit(1)


def test_an_error_answer_reveals_nothing_of_the_inside(client):
    """No version, path or address of the machine; also no echo of what the client sent."""
    client.send(wire("GET http://o.example.test/<script> HTTP/1.1¶Host: <script>¶¶"))
    response = expect_refusal(client, 400)
    assert b"<script>" not in response.raw
    assert response.all("server") == []


def test_origins_error_passes_unchanged(client):
    for status in ("400 Bad Request", "407 Proxy Authentication Required", "502 Bad Gateway", "503 Unavailable"):
        answer = ok(b"<html>the origin's own page</html>", "Content-Type: text/html", status=status)
        with HttpOrigin(lambda asked, answer=answer: answer) as origin:
            client.send(request(f"http://{origin.authority}/"))
            response = client.response()
            assert f"{response.status} {response.reason}" == status
            assert response.body == b"<html>the origin's own page</html>"
            assert response.all("proxy-status") == []
