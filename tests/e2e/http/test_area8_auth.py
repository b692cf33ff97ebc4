"""Field cases of area 8: proxy authentication."""

import base64

import pytest

from harness.client import Client, connect_head
from harness.origin import HttpOrigin, Origin, echo, ok
from harness.proxy import Proxy
from http_support import assert_made_by_proxy, basic, expect_success, request


def with_user(dns, user):
    return Proxy("http", "--user", user, *dns.options(), access_log=True)


def expect_407(client, to="GET"):
    response = client.response(to=to)
    assert_made_by_proxy(response, 407, to=to)
    challenge = response.get("proxy-authenticate")
    assert challenge.lower().startswith("basic realm="), challenge
    assert response.all("www-authenticate") == []
    return response


def token(text):
    return base64.b64encode(text.encode() if isinstance(text, str) else text).decode()


@pytest.fixture(name="guarded")
def guarded_fixture(dns):
    with with_user(dns, "u:p:w:") as running:
        yield running


def test_B105_credentials_do_not_reach_the_origin(guarded, origin):
    """Proxy-Authorization reached the origin."""
    with Client(guarded.address) as client:
        client.send(request(f"http://{origin.authority}/", basic("u", "p:w:"), "Authorization: Basic b3JpZ2lu"))
        expect_success(client)
    assert origin.requests[0].all("proxy-authorization") == []
    assert origin.requests[0].all("authorization") == ["Basic b3JpZ2lu"]


def test_B105_credentials_do_not_reach_the_tunnel(guarded):
    """The same for CONNECT: the origin sees the tunnel's bytes and nothing else."""
    with Origin(echo) as origin, Client(guarded.address) as client:
        client.send(connect_head(*origin.address, basic("u", "p:w:")))
        assert client.response(to="CONNECT").status == 200
        client.send(b"tunnel")
        assert client.exactly(6) == b"tunnel"
        assert origin.connections[0].received_bytes == 6


def test_B107_only_the_exact_password_passes(guarded, origin):
    """The password was split at its last colon, or its text after the second colon was ignored."""
    for name, password, passes in (("u", "p:w:", True), ("u", "p", False), ("u", "p:w", False), ("u:p", "w:", True),
                                   ("u", "p:w::", False), ("u", "", False), ("", "p:w:", False), ("u ", "p:w:", False),
                                   ("U", "p:w:", False), ("u", "P:w:", False)):
        with Client(guarded.address) as client:
            client.send(request(f"http://{origin.authority}/", basic(name, password)))
            if passes:
                expect_success(client)
            else:
                expect_407(client)
    assert len(origin.requests) == 2


@pytest.mark.parametrize("scheme", ["Basic", "basic", "BASIC", "bAsIc"])
def test_B109_scheme_without_case_and_password_in_utf8(dns, origin, scheme):
    """Only letters were accepted, and the scheme was compared with case."""
    with with_user(dns, 'u:pä ß!@#"') as proxy, Client(proxy.address) as client:
        client.send(request(f"http://{origin.authority}/", basic("u", 'pä ß!@#"', scheme)))
        expect_success(client)


_GOOD = token("user:p:w::")  # with two bytes of padding


@pytest.mark.parametrize("fields", [
    [f"Basic {token('user:p')}="], [f"Basic {_GOOD.rstrip('=')}"], [f"Basic {_GOOD}x"], [f"Basic {_GOOD} x"],
    [f"Basic {_GOOD}===="], ["Basic"], ["Basic "], [""], [f"Basic{_GOOD}"], [_GOOD], [f"Bearer {_GOOD}"],
    [f"Basic {_GOOD}", f"Basic {_GOOD}"], ["Basic " + "QUJD" * 2560], [f"Basic {_GOOD[:2]}%{_GOOD[2:]}"],
    [f"Basic {token('nocolon')}"], [f"Basic {token(b'user:p:w::' + bytes(1))}"], [f"Basic\t\t{_GOOD[:-1]}*"],
], ids=lambda values: "+".join(values)[:30] or "empty")
def test_B109_broken_credentials_do_not_pass(dns, origin, fields):
    """Blanks and padding were handled loosely; long values crashed."""
    with with_user(dns, "user:p:w::") as proxy, Client(proxy.address) as client:
        client.send(request(f"http://{origin.authority}/", *(f"Proxy-Authorization: {value}" for value in fields)))
        assert_made_by_proxy(client.response(), 400, 407)
        assert not origin.requests


def test_B109_two_blanks_behind_the_scheme(dns, origin):
    """RFC 9110 section 11.4 has one or more blanks there; strict or not, nothing breaks."""
    with with_user(dns, "user:p:w::") as proxy, Client(proxy.address) as client:
        client.send(request(f"http://{origin.authority}/", f"Proxy-Authorization: Basic  {_GOOD}"))
        assert client.response().status in (200, 400, 407)


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "CONNECT"])
def test_B111_forward_request_without_credentials_gets_407(guarded, origin, method):
    """Forward requests got 401."""
    with Client(guarded.address) as client:
        client.send(connect_head(*origin.address) if method == "CONNECT"
                    else request(f"http://{origin.authority}/", method=method))
        expect_407(client, to=method)
    assert not origin.connections


def test_B111_origins_401_passes_unchanged(guarded):
    """The origin's own challenge is none of the proxy's business."""
    answer = ok(b"mine", 'WWW-Authenticate: Basic realm="origin"', status="401 Unauthorized")
    with HttpOrigin(lambda asked: answer) as origin, Client(guarded.address) as client:
        client.send(request(f"http://{origin.authority}/", basic("u", "p:w:")))
        response = client.response()
        assert (response.status, response.body) == (401, b"mine")
        assert response.get("www-authenticate") == 'Basic realm="origin"'
        assert response.all("proxy-authenticate") == response.all("proxy-status") == []


def test_user_may_come_from_the_environment(dns, origin):
    """HEADRACE_USER and HEADRACE_PASSWORD keep the password off the command line (design.md section 1)."""
    secret = {"HEADRACE_USER": "alice", "HEADRACE_PASSWORD": "s3cret:x"}
    with Proxy("http", *dns.options(), env=secret, access_log=True) as proxy:
        with Client(proxy.address) as client:
            client.send(request(f"http://{origin.authority}/"))
            expect_407(client)
        with Client(proxy.address) as client:
            client.send(request(f"http://{origin.authority}/", basic("alice", "s3cret:x")))
            expect_success(client)
        assert b"s3cret" not in proxy.access_bytes() and "s3cret" not in proxy.log_text


def test_user_and_network_must_both_hold(dns, origin):
    """--allow and --user together: neither is enough alone (design.md section 3)."""
    with Proxy("http", "--user", "u:p", "--allow", "127.0.0.2/32", *dns.options()) as proxy:
        for source, fields, status in (("127.0.0.1", [basic("u", "p")], 403), ("127.0.0.2", [], 407),
                                       ("127.0.0.2", [basic("u", "p")], 200)):
            with Client(proxy.address, source=(source, 0)) as client:
                client.send(request(f"http://{origin.authority}/", *fields))
                response = client.response()
                assert response.status == status, (source, fields, response)


def test_several_users(dns, origin):
    """--user can be given more than once."""
    with Proxy("http", "--user", "a:1", "--user", "b:2", *dns.options(), access_log=True) as proxy:
        for name, password, status in (("a", "1", 200), ("b", "2", 200), ("a", "2", 407)):
            with Client(proxy.address) as client:
                client.send(request(f"http://{origin.authority}/", basic(name, password)))
                assert client.response().status == status, (name, password)
        users = [line.get("user") for line in proxy.wait_access_lines(2)]
        assert {"a", "b"} <= set(users), users


def test_407_says_when_a_retry_on_the_connection_is_possible(guarded, origin):
    """A client asked for its password tries again, on the same connection or on a new one as it was told."""
    with Client(guarded.address) as client:
        client.send(request(f"http://{origin.authority}/"))
        if expect_407(client).get("connection") == "close":
            client.expect_end()
            return
        client.send(request(f"http://{origin.authority}/", basic("u", "p:w:")))
        expect_success(client)
