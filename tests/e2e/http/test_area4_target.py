"""Field cases of area 4: absolute-form targets and Host."""

import pytest

from harness.client import Client, connect_head, socks5
from harness.dns import DnsServer
from harness.netns import TwoHosts
from harness.origin import HttpOrigin, Origin, echo, ok
from harness.proxy import Proxy
from http_support import expect_refusal, expect_success, names_asked, request, wire


@pytest.fixture(name="port80")
def port80_fixture(dns):
    """An origin on port 80 of an address of its own; o.example.test and a.example.test lead there."""
    with HttpOrigin(lambda request: ok(b"fine"), host="127.0.41.1", port=80) as server:
        dns.add("o.example.test", server.host)
        dns.add("a.example.test", server.host)
        yield server


@pytest.mark.parametrize("url, line", [
    ("http://o.example.test?x=1", b"GET /?x=1 HTTP/1.1"),
    ("http://o.example.test:80?x=1", b"GET /?x=1 HTTP/1.1"),
    ("http://o.example.test", b"GET / HTTP/1.1"),
    ("http://o.example.test:80", b"GET / HTTP/1.1"),
    ("http://o.example.test?x=/y", b"GET /?x=/y HTTP/1.1"),
])
def test_B041_empty_path_with_query(client, port80, url, line):
    """The query went into the host, and `/` was put behind it."""
    client.send(request(url, host="o.example.test"))
    expect_success(client)
    assert port80.requests[0].line == line
    assert port80.requests[0].all("host") == ["o.example.test"]


@pytest.mark.parametrize("url", ["http://user:secretpw@o.example.test:{port}/p",
                                 "http://o.example.test@other.example.test:{port}/",
                                 "http://a@b@o.example.test:{port}/",
                                 "http:/\\user:secretpw@o.example.test:{port}/",
                                 "http://user:top/secretpw@o.example.test:{port}/",
                                 "http://user:secretpw%40o.example.test:{port}/",
                                 "/user:secretpw@o.example.test:{port}/"])
def test_B043_userinfo_is_refused(proxy, dns, client, origin, url):
    """Credentials in the URI went to the next hop and into logs, and led rules to the wrong host."""
    client.send(request(url.format(port=origin.port), host="o.example.test"))
    expect_refusal(client, 400)
    assert names_asked(proxy, dns) == set()
    assert not origin.requests
    lines = proxy.wait_access_lines(2)  # of the request and of names_asked()
    assert not [line for line in lines if "secretpw" in str(line)], lines
    assert "secretpw" not in proxy.log_text


@pytest.mark.parametrize("version, host", [("1.1", "b.example.test"), ("1.0", "b.example.test"), ("1.0", "")])
def test_B045_host_is_the_targets(client, dns, port80, version, host):
    """The Host field that came was forwarded, or decided where to go."""
    client.send(request("http://a.example.test/", host=host, version=version))
    expect_success(client)
    assert port80.requests[0].all("host") == ["a.example.test"]
    assert "b.example.test" not in {query.name for query in dns.queries}


def test_B045_host_has_the_targets_port(client, origin):
    """The same where the port is not the scheme's own."""
    client.send(request(f"http://o.example.test:{origin.port}/", host="b.example.test:1"))
    expect_success(client)
    assert origin.requests[0].all("host") == [f"o.example.test:{origin.port}"]


@pytest.mark.parametrize("fields", ["", "Host: o.example.test¶Host: o.example.test¶", "Host: a b¶", "Host: a,b¶"],
                         ids=["none", "two", "blank inside", "comma"])
def test_B045_host_that_breaks_the_rules_is_refused(client, origin, fields):
    """RFC 9112 section 3.2: 1.1 without Host, with two of them, or with one that is none: 400."""
    client.send(wire(f"GET http://{origin.authority}/ HTTP/1.1¶{fields}¶"))
    expect_refusal(client, 400)
    assert not origin.requests


@pytest.mark.parametrize("url, statuses", [
    ("https://o.example.test/", (501,)), ("https://o.example.test:{port}/", (501,)),
    ("ftp://o.example.test:{port}/", (501,)), ("gopher://o.example.test:{port}/", (501,)),
    ("file:///etc/passwd", (400, 501)), ("urn:x:y", (400, 501))])
def test_B047_other_scheme_is_refused_with_a_clear_text(proxy, dns, client, origin, url, statuses):
    """An https URI was sent on in the clear, or turned into nonsense."""
    client.send(request(url.format(port=origin.port), host="o.example.test"))
    response = expect_refusal(client, *statuses)
    if url.startswith("https"):
        assert "CONNECT" in response.text or "tunnel" in response.text, response
    assert names_asked(proxy, dns) == set()
    assert not origin.connections


@pytest.mark.parametrize("url", ["HTTP://O.EXAMPLE.TEST:{port}/", "http://o.example.test.:{port}/",
                                 "hTTp://o.Example.TEST:{port}/"])
def test_B049_case_and_trailing_dot_do_not_matter(client, origin, url):
    """Scheme and host were compared with case."""
    client.send(request(url.format(port=origin.port)))
    expect_success(client)
    assert origin.requests[0].get("host").lower().rstrip(".").replace(".:", ":") == f"o.example.test:{origin.port}"


def test_B049_case_and_trailing_dot_in_connect(proxy):
    """The same for CONNECT."""
    with Origin(echo) as origin, Client(proxy.address) as client:
        client.send(connect_head("O.Example.Test.", origin.port))
        assert client.response(to="CONNECT").status == 200
        client.send(b"x")
        assert client.exactly(1) == b"x"


def test_B049_no_spelling_gets_round_a_refusal():
    """Rules were normalised on one side only, so another spelling passed. Here the inside guard refuses."""
    with TwoHosts() as net, HttpOrigin(lambda request: ok(b"secret"), netns=net.inside) as origin, \
         DnsServer(netns=net.inside) as dns, \
         Proxy("mixed", "--open", *dns.options(), listen=f"{net.inside_v4}:0", netns=net.inside) as proxy:
        dns.add("o.example.test", "127.0.0.1")
        for url in ("HTTP://O.EXAMPLE.TEST:{port}/", "http://o.example.test.:{port}/", "http://o.example.test:{port}/"):
            with Client(proxy.address, netns=net.outside) as client:
                client.send(request(url.format(port=origin.port)))
                expect_refusal(client, 403, error="destination_ip_prohibited", ends=False)
        for name in ("O.Example.Test.", "o.example.test", "O.EXAMPLE.TEST"):
            with Client(proxy.address, netns=net.outside) as client:
                client.send(connect_head(name, origin.port))
                expect_refusal(client, 403, to="CONNECT", error="destination_ip_prohibited", ends=False)
            with Client(proxy.address, netns=net.outside) as client:
                assert socks5(client, name, origin.port).code == 2
        assert not origin.connections


@pytest.mark.parametrize("path", [
    '/a//b/../%2e%2e/%2F;p=1?q=%0d%0a&r="x"|y',
    "/?" + "q" * 8192,
    "//double", "/%", "/%zz?%", "/a?b?c", "/?", "/;", "/\\back{slash}^`", "/*", "/:@!$&'()+,=~",
], ids=lambda path: path[:20])
def test_B051_path_passes_untouched(client, origin, path):
    """Paths were normalised or encoded anew, or the whole URI went to the origin."""
    client.send(request(f"http://{origin.authority}{path}"))
    expect_success(client)
    assert origin.requests[0].line == f"GET {path} HTTP/1.1".encode()


def test_B051_path_with_8_bit_bytes_passes_untouched(client, origin):
    """The same for what careless clients send raw."""
    client.send(request(f"http://{origin.authority}/ä/\xff?ö"))
    expect_success(client)
    assert origin.requests[0].line == "GET /ä/\xff?ö HTTP/1.1".encode("latin-1")


@pytest.mark.parametrize("path", ["/a b", "/a\tb", "/a#fragment", "/\x01", "/\x7f"], ids=repr)
def test_B051_what_is_no_path_is_refused(client, origin, path):
    """Blanks, control bytes and fragments have no place in a request target."""
    client.send(request(f"http://{origin.authority}{path}"))
    expect_refusal(client, 400)
    assert not origin.requests
