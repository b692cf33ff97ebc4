"""Field cases of area 3: CONNECT. Each test's docstring says what went wrong in the field."""

import pytest

from harness.client import Client, connect_head
from harness.origin import HttpOrigin, Origin, echo, ok
from harness.proxy import Proxy
from http_support import basic, expect_refusal, names_asked, request, targets_seen, wire


def expect_tunnel(client, text=b"ping"):
    """The CONNECT just sent is granted and bytes go both ways."""
    response = client.response(to="CONNECT")
    assert response.status == 200, response
    assert response.all("content-length") == response.all("transfer-encoding") == [], response
    client.send(text)
    assert client.exactly(len(text)) == text


@pytest.fixture(name="echoing")
def echoing_fixture():
    with Origin(echo) as server:
        yield server


@pytest.mark.parametrize("head", [
    "CONNECT o.example.test:{port} HTTP/1.0¶¶",
    "CONNECT o.example.test:{port} HTTP/1.1¶Host: o.example.test:{port}¶{extra}¶",
], ids=["1.0 without Host", "60 extra fields"])
def test_B029_connect_that_is_accepted(client, echoing, head):
    """Clients that leave out Host, or bring much else, were refused."""
    extra = "".join(f"X-Extra-{number}: {'v' * 120}¶" for number in range(60))
    client.send(wire(head.format(port=echoing.port, extra=extra)))
    expect_tunnel(client)


def test_B029_connect_of_http_1_1_without_host_is_refused(client, echoing):
    """RFC 9112 section 3.2: a 1.1 request without Host is answered with 400."""
    client.send(wire(f"CONNECT o.example.test:{echoing.port} HTTP/1.1¶¶"))
    expect_refusal(client, 400, to="CONNECT")
    assert not echoing.connections


def test_B031_ipv6_literal_is_reached(proxy):
    """The authority was split at the first or last colon, whatever the brackets said."""
    with Origin(echo, host="::1") as origin, Client(proxy.address) as client:
        client.send(connect_head("::1", origin.port))
        expect_tunnel(client)


@pytest.mark.parametrize("target", ["::1:{port}", "[::1]", "[::1:443", "[::1]443", "[o.example.test]:443",
                                    "[::1%25lo]:{port}"])
def test_B031_broken_ipv6_literal_is_refused(proxy, dns, client, target):
    """The same; nothing of it may reach a resolver."""
    with Origin(echo, host="::1") as origin:
        target = target.format(port=origin.port)
        client.send(wire(f"CONNECT {target} HTTP/1.1¶Host: {target}¶¶"))
        expect_refusal(client, 400, to="CONNECT")
        assert names_asked(proxy, dns) == set()
        assert not origin.connections


@pytest.mark.parametrize("target, status", [
    ("o.example.test:25", 403),
    ("missing.example.test:443", 502),
    ("127.0.0.1:{closed}", 502),
], ids=["refused port", "unknown name", "closed port"])
def test_B033_bytes_behind_a_refused_connect_are_no_request(proxy, client, origin, target, status):
    """After an error to CONNECT the bytes meant for the tunnel were parsed as new requests."""
    with Origin(echo) as gone:
        closed = gone.port
    target = target.format(closed=closed)
    client.send(wire(f"CONNECT {target} HTTP/1.1¶Host: {target}¶¶") + request(f"http://{origin.authority}/x"))
    expect_refusal(client, status, to="CONNECT")
    assert targets_seen(proxy, origin) == []


def test_B033_bytes_behind_a_connect_without_credentials_are_no_request(dns, origin):
    """The same with 407, for which a client could want to go on."""
    with Proxy("http", "--user", "u:p", *dns.options()) as proxy, Client(proxy.address) as client:
        client.send(connect_head("o.example.test", origin.port)
                    + request(f"http://{origin.authority}/x", basic("u", "p")))
        expect_refusal(client, 407, to="CONNECT")
        assert targets_seen(proxy, origin, basic("u", "p")) == []


_BAD_PORTS = ["65979", "4294967739", "0", "-1", "443x", "+443", " 443", ""]


@pytest.fixture(name="https_origin")
def https_origin_fixture(dns):
    """Listens on 443 of an address of its own, where the wrapped ports would lead."""
    with HttpOrigin(lambda request: ok(b"fine"), host="127.0.35.1", port=443) as server:
        dns.add("o.example.test", server.host)
        yield server


@pytest.mark.parametrize("port", _BAD_PORTS)
@pytest.mark.parametrize("form", ["CONNECT o.example.test:{port} HTTP/1.1¶Host: o.example.test:{port}¶¶",
                                  "GET http://o.example.test:{port}/ HTTP/1.1¶Host: o.example.test¶¶"],
                         ids=["connect", "get"])
def test_B035_port_that_is_none_is_refused(proxy, dns, client, https_origin, form, port):
    """A port was parsed into a short type, so that 65979 became 443 and passed the rules."""
    client.send(wire(form.format(port=port)))
    expect_refusal(client, 400)
    assert "o.example.test" not in names_asked(proxy, dns)
    assert not https_origin.connections


def test_B035_port_with_leading_zeros_is_that_port(client, https_origin):
    """The same; zeros in front change nothing (RFC 3986 section 6.2.3 lets them)."""
    client.send(wire("CONNECT o.example.test:00000443 HTTP/1.1¶Host: o.example.test:443¶¶"))
    response = client.response(to="CONNECT")
    assert response.status in (200, 400), response
    if response.status == 200:
        https_origin.wait_connection()


@pytest.mark.parametrize("line", [
    "CONNECT http://o.example.test:443/", "CONNECT u:p@o.example.test:443", "CONNECT o.example.test:443/x",
    "CONNECT o.example.test", "CONNECT /", "CONNECT *", "GET o.example.test:443", "GET *", "OPTIONS **"])
def test_B037_wrong_target_form_is_refused(proxy, dns, client, https_origin, line):
    """Paths and schemes in CONNECT were read as authorities, so that rules could be fooled."""
    client.send(wire(f"{line} HTTP/1.1¶Host: o.example.test:443¶¶"))
    expect_refusal(client, 400)
    assert "o.example.test" not in names_asked(proxy, dns)
    assert not https_origin.connections


@pytest.mark.parametrize("rest", ["Content-Length: 5¶¶hello world",
                                  "Transfer-Encoding: chunked¶¶5¶hello¶0¶¶"],
                         ids=["length", "chunked"])
def test_B039_connect_with_a_body_is_refused(client, echoing, rest):
    """Body fields on CONNECT made the parser swallow bytes of the tunnel."""
    client.send(wire(f"CONNECT o.example.test:{echoing.port} HTTP/1.1¶Host: o.example.test:{echoing.port}¶{rest}"))
    expect_refusal(client, 400, to="CONNECT")
    assert not echoing.connections


def test_connect_refused_by_default_to_the_ports_of_other_protocols(proxy, dns):
    """Without rules CONNECT goes to 443, 8443 and 1024 up (design.md section 3), so to no mail server."""
    for port in (22, 25, 80, 444, 1023):
        with Client(proxy.address) as client:
            client.send(connect_head("o.example.test", port))
            expect_refusal(client, 403, to="CONNECT", error="http_request_denied")
    assert "o.example.test" not in names_asked(proxy, dns)


def test_connect_ports_can_be_set(dns):
    """connect_ports is a key of its own; "any" lifts the limit."""
    with Origin(echo, host="127.0.35.2", port=25) as mail:
        for value, status in (("any", 200), ("25, 443", 200), ("443, 1024-65535", 403)):
            with Proxy("http", *dns.options(), "--set", f"connect_ports={value}") as proxy, \
                 Client(proxy.address) as client:
                client.send(connect_head(mail.host, mail.port))
                assert client.response(to="CONNECT").status == status, value
        assert len(mail.connections) == 2


def test_connect_is_answered_only_when_the_upstream_accepted(client, echoing):
    """Bytes in the same segment as the head reach the origin, and 200 comes after the connect."""
    client.send(connect_head(*echoing.address) + b"early")
    response = client.response(to="CONNECT")
    assert response.status == 200, response
    assert client.exactly(5) == b"early"
    assert len(echoing.connections) == 1
