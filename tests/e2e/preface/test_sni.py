"""TLS passed through to the server that the ClientHello names: names, limits, refusals, and the tunnel."""

import contextlib
import os

import pytest

from harness import proxy as proxies
from harness import tls_hello as hello
from harness.client import Client
from harness.dns import DnsServer
from harness.origin import Origin, closed_port, echo, payload, sha256, silent
from harness.proxy import Proxy
from harness.timing import Stopwatch, limit

NAME = b"o.example.test"


@contextlib.contextmanager
def sni(origin, dns, *options, **proxy_options):
    """A proxy that leads every name to the port of `origin`."""
    with Proxy("sni", "--to-port", origin.port, *dns.options(), *options, access_log=True, **proxy_options) as proxy:
        yield proxy


def expect_alert(proxy, data, alert, reason, **client_options):
    """What begins with `data` is refused with that alert and ends; the reason is logged."""
    with Client(proxy.address, **client_options) as client:
        client.send(data)
        client.expect_end(how="eof", after=hello.fatal_alert(alert))
    proxy.wait_log(f"event=refused reason={reason} .*protocol=sni")
    assert proxy.wait_access_lines()[-1]["result"] == reason


# ---- the way through ----

HELLOS = {
    "real": hello.real("o.example.test"),
    "real in records of 1 byte": hello.records(hello.real("o.example.test")[5:], 1),
    "real in records of 100 bytes": hello.records(hello.real("o.example.test")[5:], 100),
    "64 KiB": hello.records(hello.message_of(65536, NAME)),
    "64 KiB in small records": hello.records(hello.message_of(65536, NAME), 50),
}


@pytest.mark.parametrize("which", HELLOS)
def test_every_byte_of_the_hello_reaches_the_server_first(dns, which):
    """The server gets exactly what the client sent, with what came behind it, and answers."""
    with Origin(echo) as origin, sni(origin, dns) as proxy:
        for data in (HELLOS[which], HELLOS[which] + b"\x14\x03\x03\0\x01\x01early data"):
            with Client(proxy.address) as client:
                client.send(data)
                assert client.exactly(len(data)) == data
                client.send(b"more")
                assert client.exactly(4) == b"more"


@pytest.mark.parametrize("pieces", (1, 5, 100))
def test_a_hello_may_come_in_any_segments(dns, pieces):
    data = HELLOS["real"]
    with Origin(echo) as origin, sni(origin, dns) as proxy, Client(proxy.address) as client:
        client.segments([data[at:at + pieces] for at in range(0, len(data), pieces)], gap=0.002)
        assert client.exactly(len(data)) == data


def test_a_hello_of_64_kib_may_come_in_many_segments(dns):
    data = HELLOS["64 KiB"]
    with Origin(echo) as origin, sni(origin, dns) as proxy, Client(proxy.address) as client:
        client.segments([data[at:at + 1000] for at in range(0, len(data), 1000)], gap=0.001)
        assert client.exactly(len(data)) == data


@pytest.mark.parametrize("splice", ("never", "always", "auto"))
def test_behind_the_hello_is_an_ordinary_tunnel(dns, splice):
    """20 MiB each way, half-close kept, everything in the access log."""
    data = HELLOS["real"]
    up, down = payload(20 << 20, seed=1), payload(20 << 20, seed=2)

    def script(conn):
        conn.read_exactly(len(data))
        conn.hashes = conn.drain()
        conn.send(down)

    with Origin(script) as origin, sni(origin, dns, "--splice", splice) as proxy, Client(proxy.address) as client:
        client.send(data + up)
        client.fin()
        assert client.hash_to_end() == (len(down), sha256(down))
        assert origin.connections[0].hashes == (len(up), sha256(up))
        line = proxy.wait_access_lines()[0]
        assert (line["protocol"], line["target"], line["result"]) == ("sni", f"o.example.test:{origin.port}", "ok")
        assert (int(line["up"]), int(line["down"])) == (len(data) + len(up), len(down))
        assert line["dialled"] == origin.authority


# ---- names ----

@pytest.mark.parametrize("name", (b"O.EXAMPLE.TEST", b"o.example.test.", b"O.Example.Test."))
def test_B173_case_and_trailing_dot_make_no_other_name(dns, name):
    with Origin(echo) as origin, sni(origin, dns) as proxy, Client(proxy.address) as client:
        data = hello.made(name)
        client.send(data)
        assert client.exactly(len(data)) == data
        client.close()
        assert proxy.wait_access_lines()[0]["target"] == f"o.example.test:{origin.port}"


NO_NAME = {"no server_name": hello.real(None), "no extensions": hello.records(hello.message()),
           "an IPv4 address": hello.made(b"127.0.0.1"), "an IPv6 address": hello.made(b"::1"),
           "a number": hello.made(b"2130706433"), "a hexadecimal number": hello.made(b"0x7f.1")}


@pytest.mark.parametrize("which", NO_NAME)
def test_B173_without_a_name_a_client_is_refused(dns, which):
    with Origin(echo) as origin, sni(origin, dns) as proxy:
        expect_alert(proxy, NO_NAME[which], hello.MISSING_EXTENSION, "name_missing")
        assert not origin.connections


@pytest.mark.parametrize("which", NO_NAME)
def test_B173_without_a_name_a_client_gets_to_the_default(dns, which):
    with Origin(echo) as origin, Origin(echo) as default:
        with sni(origin, dns, "--to", default.authority) as proxy, Client(proxy.address) as client:
            client.send(NO_NAME[which])
            assert client.exactly(len(NO_NAME[which])) == NO_NAME[which]
            assert len(default.connections) == 1 and not origin.connections


@pytest.mark.parametrize("name", (b"a\nb.test", b'a"b.test', b"a b.test", b"a\0.test", b"*.example.test", b".", b"a..b",
                                  b"o.example.test..", b".o.example.test", b"a.256", b"[::1", b"a:b", b"x" * 64,
                                  b"a." * 200 + b"b", b"\xc3\xa4.example.test", b"y" * 16000))
def test_B167_what_is_no_host_name_is_refused_and_logged_harmlessly(dns, name):
    with Origin(echo) as origin, sni(origin, dns, "--to", origin.authority) as proxy:
        expect_alert(proxy, hello.made(name), hello.ILLEGAL_PARAMETER, "malformed")
        assert not origin.connections
        [line] = proxy.access_lines()
        target = line["target"].encode("utf-8", "surrogateescape")
        assert target == name or (len(name) > 1024 and target == name[:1024] + b"..."), line


def test_B175_an_unknown_name_is_told_as_such(dns):
    with Origin(echo) as origin, sni(origin, dns) as proxy:
        expect_alert(proxy, hello.made(b"nobody.example.test"), hello.UNRECOGNIZED_NAME, "name_unknown")


def test_a_server_that_does_not_answer_is_no_fault_of_the_client(dns):
    with Proxy("sni", "--to-port", closed_port(), *dns.options(), access_log=True) as proxy:
        expect_alert(proxy, hello.made(NAME), hello.INTERNAL_ERROR, "connect_refused")


# ---- what is no hello ----

@pytest.mark.parametrize("data", (b"GET / HTTP/1.1\r\nHost: o.example.test\r\n\r\n", b"\x05\x01\0", b"\x80\x2e\x01\x03\x01",
                                  b"SSH-2.0-x\r\n", b"\x15\x03\x01\0\x02\x02\x28", b"\x17\x03\x03\0\x01x"))
def test_what_is_no_tls_handshake_is_refused_without_a_word(dns, data):
    with Origin(echo) as origin, sni(origin, dns, "--to", origin.authority) as proxy, Client(proxy.address) as client:
        client.send(data)
        client.expect_end()
        proxy.wait_log("event=refused reason=malformed side=client .*protocol=sni")
        assert not origin.connections


TWO_NAMES = hello.records(hello.message(hello.server_name(b"a.test"), hello.server_name(b"b.test")))


@pytest.mark.parametrize("data", (b"\x16\x03\x01\0\0", b"\x16\x03\x01\x40\x01", b"\x16\x02", TWO_NAMES,
                                  hello.records(b"\x02\0\0\x01x"), hello.records(b"\x01\0\0\x01x"),
                                  hello.records(hello.message()[:20]) + b"\x15\x03\x01",
                                  hello.made(NAME)[:50] + b"\xff" * 300))
def test_a_broken_hello_is_answered_with_decode_error(dns, data):
    with Origin(echo) as origin, sni(origin, dns) as proxy:
        expect_alert(proxy, data, hello.DECODE_ERROR, "malformed")
        assert not origin.connections


def test_beyond_64_kib_is_refused(dns):
    with Origin(echo) as origin, sni(origin, dns) as proxy:
        expect_alert(proxy, hello.records(hello.message_of(65537, NAME))[:20_000], hello.DECODE_ERROR, "too_large")
        expect_alert(proxy, hello.records(hello.message_of(65536, NAME), 1)[:128 * 1024], hello.DECODE_ERROR,
                     "too_large")


@pytest.mark.parametrize("data", (b"", HELLOS["real"][:1], HELLOS["real"][:-1]))
def test_a_hello_has_its_deadline(dns, data):
    with Origin(echo) as origin, sni(origin, dns, "--set", "setup_timeout=1s") as proxy:
        with proxy.keeps_base_fds(), Client(proxy.address) as client:
            watch = Stopwatch()
            client.send(data)
            client.expect_end(seconds=3)
            assert 0.8 < watch.seconds < limit(2.5)
            proxy.wait_log("event=refused reason=timed_out .*protocol=sni")


def test_a_client_that_leaves_in_the_middle_leaves_nothing(dns):
    with Origin(echo) as origin, sni(origin, dns) as proxy, proxy.keeps_base_fds():
        for cut in (0, 1, 4, 5, 50, len(HELLOS["real"]) - 1):
            with Client(proxy.address) as client:
                client.send(HELLOS["real"][:cut])
                client.fin()
                client.expect_end()
            with Client(proxy.address) as client:
                client.send(HELLOS["real"][:cut])
                client.reset()


# ---- who may go where ----

@pytest.mark.parametrize("listen", ("0.0.0.0:0", ":0", "[::]:0"))
def test_no_open_proxy_by_accident(listen):
    done = proxies.run("sni", listen)
    assert done.returncode == 1, done
    assert "--allow" in done.stderr and "--open" in done.stderr and "--user" not in done.stderr, done.stderr


def test_users_cannot_be_asked_for():
    done = proxies.run("sni", "127.0.0.1:0", "--user", "a:b")
    assert done.returncode == 1 and "sni cannot ask" in done.stderr, done.stderr


def test_the_port_is_one_of_connect_ports():
    done = proxies.run("sni", "127.0.0.1:0", "--to-port", "25")
    assert done.returncode == 1 and "connect_ports" in done.stderr, done.stderr
    with Proxy("sni", "--to-port", "25", "--set", "connect_ports=25", listen="127.0.0.1:0") as proxy:
        assert proxy.port


def test_clients_that_are_not_allowed_are_reset(dns):
    with Origin(echo) as origin, sni(origin, dns, "--allow", "192.0.2.0/24") as proxy, Client(proxy.address) as client:
        with contextlib.suppress(ConnectionResetError, BrokenPipeError):
            client.send(HELLOS["real"])
        client.expect_end(how="reset")
        proxy.wait_log("event=refused reason=client_denied")
        assert not origin.connections


@pytest.mark.parametrize("address", ("127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "fd00::1", "::ffff:127.0.0.1"))
def test_names_lead_no_client_of_elsewhere_inside(two_hosts, address):
    """The address that is dialled is judged as that of a CONNECT target."""
    net = two_hosts
    for inside in ("10.1.2.3", "fd00::1"):
        net.inside.ip("addr", "add", inside, "dev", "lo")
    with DnsServer(netns=net.inside) as dns, Origin(echo, host="", port=8443, netns=net.inside) as origin:
        dns.add("inside.example.test", address)
        with Proxy("sni", "--open", "--to-port", "8443", *dns.options(), listen=f"{net.inside_v4}:0",
                   netns=net.inside, access_log=True) as proxy:
            expect_alert(proxy, hello.made(b"inside.example.test"), hello.UNRECOGNIZED_NAME, "inside_denied",
                         netns=net.outside)
            assert not origin.connections


def test_the_default_destination_is_the_operators_word(two_hosts):
    net = two_hosts
    with Origin(echo, netns=net.inside) as origin:
        with Proxy("sni", "--open", "--to", origin.authority, listen=f"{net.inside_v4}:0", netns=net.inside) as proxy:
            with Client(proxy.address, netns=net.outside) as client:
                client.send(NO_NAME["no server_name"])
                assert client.exactly(5) == NO_NAME["no server_name"][:5]


def test_a_name_that_leads_back_is_a_loop(dns):
    port = closed_port()
    with Proxy("sni", "--to-port", port, *dns.options(), listen=f"127.0.0.1:{port}", access_log=True) as proxy:
        expect_alert(proxy, hello.made(NAME), hello.UNRECOGNIZED_NAME, "loop")


# ---- holding on ----

def test_drain_lets_tunnels_end(dns):
    with Origin(echo) as origin, sni(origin, dns) as proxy, Client(proxy.address) as client:
        client.send(HELLOS["real"])
        client.exactly(len(HELLOS["real"]))
        os.kill(proxy.pid, 15)
        client.send(b"still here")
        assert client.exactly(10) == b"still here"
        client.close()
        proxy.expect_exit(0)


def test_many_clients_in_the_middle_of_their_hello(dns):
    """500 clients that hold half a hello cost nobody else anything, and end with the deadline."""
    with Origin(silent) as origin, sni(origin, dns, "--set", "setup_timeout=3s") as proxy, proxy.keeps_base_fds():
        with contextlib.ExitStack() as stack:
            halves = [stack.enter_context(Client(proxy.address)) for _ in range(500)]
            for client in halves:
                client.send(HELLOS["64 KiB"][:30_000])
            with Client(proxy.address) as client:
                client.send(HELLOS["real"])
                origin.wait_connection()
            for client in halves:
                client.expect_end(seconds=5)
