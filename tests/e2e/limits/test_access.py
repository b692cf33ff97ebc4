"""Who may use the proxy: networks, users, the open-proxy guard, ports of CONNECT."""

import base64
import contextlib

import pytest

from harness import client as clients
from harness import proxy as proxies
from harness.client import Client
from harness.netns import NetNs
from harness.origin import HttpOrigin, Origin, closed_port, echo, ok
from harness.proxy import Proxy
from harness.timing import wait_until


def basic(user_and_password):
    return "Proxy-Authorization: Basic " + base64.b64encode(user_and_password.encode()).decode()


# ---- the open-proxy guard ----

@pytest.mark.parametrize("command", ("http", "socks", "mixed"))
@pytest.mark.parametrize("listen", ("0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:0", "127.0.0.1:0,0.0.0.0:0"))
def test_no_open_proxy_by_accident(command, listen):
    """A non-loopback address without users, --allow or --open: exit 1, and it says what to add."""
    done = proxies.run(command, *listen.split(","))
    assert done.returncode == 1, done
    for advice in ("--allow", "--user", "--open"):
        assert advice in done.stderr, done.stderr
    assert not proxies.LISTENING.search(done.stderr)


@pytest.mark.parametrize("options", (("--open",), ("--user", "a:b"), ("--allow", "192.0.2.0/24")))
@pytest.mark.parametrize("command", ("http", "socks", "mixed"))
def test_what_the_guard_asks_for_is_enough(command, options):
    with Proxy(command, *options, listen="0.0.0.0:0") as proxy:
        assert proxy.port


def test_users_from_the_environment_satisfy_the_guard_and_are_asked_for():
    with HttpOrigin(lambda request: ok(b"in")) as origin:
        env = {"HEADRACE_USER": "eve", "HEADRACE_PASSWORD": "s3cret"}
        with Proxy("http", listen="0.0.0.0:0", env=env) as proxy:
            assert _get(proxy, origin).status == 407
            assert _get(proxy, origin, basic("eve:s3cret")).body == b"in"
            assert _get(proxy, origin, basic("eve:other")).status == 407


def test_a_relay_and_loopback_need_no_permission():
    with Proxy("relay", "--to", "127.0.0.1:9", listen="0.0.0.0:0") as proxy:
        assert proxy.port
    for listen in ("127.0.0.1:0", "[::1]:0", "127.0.0.9:0"):
        with Proxy("http", listen=listen) as proxy:
            assert proxy.port


def test_a_unix_socket_needs_no_permission(tmp_path):
    with Origin(echo) as origin, Proxy("socks", listen=f"unix:{tmp_path}/hr.sock") as proxy:
        with Client(proxy.address) as client:
            assert clients.socks5(client, *origin.address).code == 0
            client.send(b"x")
            assert client.exactly(1) == b"x"
    with Origin(echo) as origin, Proxy("http", listen="unix:@headrace-e2e") as proxy:
        with Client(proxy.address) as client:
            assert clients.http_connect(client, *origin.address).status == 200


# ---- networks ----

def _get(proxy, origin, *fields, **client_options):
    with Client(proxy.address, **client_options) as client:
        client.send("\r\n".join([f"GET http://{origin.authority}/ HTTP/1.1", f"Host: {origin.authority}", *fields,
                                 "", ""]))
        return client.response()


def _is_served(proxy, origin, address, source):
    """Whether a client from `source` gets to the origin; a refusal is a 403, or the connection just ends."""
    before = len(origin.connections)
    with Client(address, source=(source, 0) if source else None) as client:
        client.send(clients.connect_head(*origin.address))
        try:
            response = client.response(to="CONNECT")
        except clients.Ended:
            served = False
        else:
            assert response.status in (200, 403), response
            served = response.status == 200
        if served:
            client.send(b"x")
            assert client.exactly(1) == b"x"
        else:
            client.expect_end()
    assert (len(origin.connections) > before) is served
    return served


def test_B150_client_acl_after_a_family_change():
    """The address length of an IPv4 accept was used for the next IPv6 accept."""
    with Origin(echo) as origin:
        with Proxy("http", "--allow", "127.0.0.1", "--allow", "::1", listen=":0", access_log=True) as proxy:
            port = proxy.port
            v4, v6 = ("127.0.0.1", port), ("::1", port)
            mapped = ("::ffff:127.0.0.1", port)  # over an IPv6 socket of the client
            wanted = [(v4, "127.0.0.1", True), (v6, "::1", True), (v4, "127.0.0.2", False),
                      (mapped, "::ffff:127.0.0.1", True), (mapped, "::ffff:127.0.0.2", False)]
            for _ in range(10):
                for address, source, served in wanted:
                    assert _is_served(proxy, origin, address, source) is served, source

            def served_clients():
                return [line["client"].rpartition(":")[0].strip("[]") for line in proxy.access_lines()
                        if line["result"] == "ok"]
            wait_until(lambda: len(served_clients()) >= 30, 3, lambda: f"30 log lines: {served_clients()}")
            seen = served_clients()
            assert seen.count("::1") == 10, seen
            assert seen.count("127.0.0.1") == 20, seen
            assert not [host for host in seen if "ffff" in host]


@pytest.mark.parametrize("network, served", (
    ("0.0.0.0/0", {"127.0.0.1", "127.0.0.2", "::ffff:127.0.0.1"}),
    ("::/0", {"::1"}),
    ("0.0.0.0/1", {"127.0.0.1", "127.0.0.2", "::ffff:127.0.0.1"}),
    ("128.0.0.0/1", set()),
    ("::/1", {"::1"}),
    ("8000::/1", set()),
    ("::/33", {"::1"}),
    ("::/127", {"::1"}),
    ("::2/127", set()),
    ("::1/128", {"::1"}),
    ("127.0.0.2/31", {"127.0.0.2"}),
    ("127.0.0.2/32", {"127.0.0.2"}),
    ("127.0.0.2", {"127.0.0.2"}),
))
def test_B150_prefixes_of_every_kind(network, served):
    """A v4-mapped client is judged as the IPv4 client that it is."""
    with Origin(echo) as origin, Proxy("http", "--allow", network, listen=":0") as proxy:
        got = set()
        for source in ("127.0.0.1", "127.0.0.2", "::1", "::ffff:127.0.0.1"):
            host = {"::1": "::1"}.get(source, "::ffff:127.0.0.1" if "ffff" in source else "127.0.0.1")
            if _is_served(proxy, origin, (host, proxy.port), source):
                got.add(source)
        assert got == served


@pytest.mark.parametrize("bad", ("127.0.0.1/33", "::1/129", "127.0.0.1/8", "127.0.0/8", "fe80::1%lo", "localhost", "/8",
                                 "", "127.0.0.1/", "127.0.0.1/-1", "127.0.0.1/08x"))
def test_networks_that_are_none_are_refused_at_start(bad):
    """Host bits that are set, prefixes too long, names: a mistake in a permission is never guessed at."""
    done = proxies.run("http", "127.0.0.1:0", "--allow", bad)
    assert done.returncode in (1, 2), done
    assert "allow" in done.stderr.lower(), done.stderr


def test_allow_holds_for_socks_and_relay_too():
    with Origin(echo) as origin:
        for command, options in (("socks", ()), ("relay", ("--to", origin.authority)), ("mixed", ())):
            with Proxy(command, *options, "--allow", "127.0.0.2") as proxy:
                with Client(proxy.address, source=("127.0.0.1", 0)) as client:
                    with contextlib.suppress(ConnectionError):  # refused already
                        client.send(b"\x05\x01\x00")
                    data = client.to_end()
                    assert data in (b"", b"\x05\xff") or data[:4] == b"\x05\x00\x05\x02", data
                if command != "relay":
                    with Client(proxy.address, source=("127.0.0.2", 0)) as client:
                        assert clients.socks5(client, *origin.address).code == 0
        assert len(origin.connections) == 2


# ---- users ----

def test_users_are_asked_for_by_http_and_socks():
    with HttpOrigin(lambda request: ok(b"in")) as origin:
        with Proxy("mixed", "--user", "alice:one", "--user", "bob:two") as proxy:
            response = _get(proxy, origin)
            assert response.status == 407
            assert response.get("proxy-authenticate").lower().startswith("basic realm=")
            for right in ("alice:one", "bob:two"):
                assert _get(proxy, origin, basic(right)).body == b"in"
                with Client(proxy.address) as client:
                    assert clients.socks5(client, *origin.address, user=right.split(":")).code == 0
            for wrong in ("alice:two", "bob:one", "alice:", ":one", "Alice:one", "alice:one ", "carol:one"):
                assert _get(proxy, origin, basic(wrong)).status == 407, wrong
                with Client(proxy.address) as client:
                    response = clients.http_connect(client, *origin.address, basic(wrong))
                    assert response.status == 407
                with Client(proxy.address) as client:
                    with pytest.raises(AssertionError):
                        clients.socks5_greet(client, user=wrong.split(":"))
                    client.expect_end()
            assert all(request.get("proxy-authorization") is None for request in origin.requests)
            assert len(origin.requests) == 2


def test_allow_and_user_must_both_hold():
    with HttpOrigin(lambda request: ok(b"in")) as origin:
        with Proxy("http", "--user", "a:b", "--allow", "127.0.0.2") as proxy:
            assert _get(proxy, origin, basic("a:b"), source=("127.0.0.2", 0)).body == b"in"
            assert _get(proxy, origin, source=("127.0.0.2", 0)).status == 407
            for fields in ((basic("a:b"),), ()):
                try:
                    assert _get(proxy, origin, *fields, source=("127.0.0.1", 0)).status == 403
                except clients.Ended:
                    pass  # ended without an answer: as good
            assert len(origin.requests) == 1


@pytest.mark.parametrize("bad", ("alice", ":password", ""))
def test_users_that_are_none_are_refused_at_start(bad):
    done = proxies.run("http", "127.0.0.1:0", "--user", bad)
    assert done.returncode in (1, 2), done
    assert "user" in done.stderr.lower()


def test_passwords_do_not_show_in_the_log():
    with HttpOrigin(lambda request: ok(b"in")) as origin:
        with Proxy("http", "--user", "alice:hunter2", "--log-level", "debug", access_log=True) as proxy:
            _get(proxy, origin, basic("alice:hunter2"))
            _get(proxy, origin, basic("alice:wrongpass"))
            proxy.wait_access_lines(2)
        everything = proxy.log_text.encode() + proxy.access_bytes()
        for secret in (b"hunter2", b"wrongpass", base64.b64encode(b"alice:hunter2")):
            assert secret not in everything


# ---- ports of CONNECT ----

@pytest.mark.parametrize("port", (1, 22, 25, 80, 110, 442, 444, 465, 587, 1023))
def test_connect_is_refused_to_ports_outside_connect_ports(port):
    with Proxy("http") as proxy, Client(proxy.address) as client:
        response = clients.http_connect(client, "127.0.0.1", port)
        assert response.status == 403
        assert str(port) in response.text or "port" in response.text
        client.expect_end()


def test_default_connect_ports_are_open():
    """443 and 1024 are in the default set; an origin may listen there in a namespace of its own."""
    with NetNs() as netns, Proxy("http", netns=netns) as proxy:
        for port in (443, 1024, 8443, 65535):
            with Origin(echo, port=port, netns=netns), Client(proxy.address, netns=netns) as client:
                assert clients.http_connect(client, "127.0.0.1", port).status == 200, port


def test_connect_ports_can_be_set():
    with Origin(echo) as origin:
        for ports, status in (("any", 200), (f"25, {origin.port}", 200), (f"{origin.port}-{origin.port}", 200),
                              ("443", 403), (f"{origin.port + 1}-65535", 403)):
            with Proxy("http", "--set", f"connect_ports={ports}") as proxy, Client(proxy.address) as client:
                assert clients.http_connect(client, *origin.address).status == status, ports
    with Proxy("http", "--set", "connect_ports=any") as proxy, Client(proxy.address) as client:
        assert clients.http_connect(client, "127.0.0.1", closed_port()).status == 502


@pytest.mark.parametrize("bad", ("0", "65536", "443-", "-443", "8443-443", "https", "443;8443", "443,,8443"))
def test_connect_ports_that_are_none_are_refused_at_start(bad):
    done = proxies.run("http", "127.0.0.1:0", "--set", f"connect_ports={bad}")
    assert done.returncode == 1, done
    assert "connect_ports" in done.stderr


def test_plain_requests_may_go_to_any_port():
    with NetNs() as netns, HttpOrigin(lambda request: ok(b"80"), port=80, netns=netns) as origin:
        with Proxy("http", netns=netns) as proxy:
            assert _get(proxy, origin, netns=netns).body == b"80"
