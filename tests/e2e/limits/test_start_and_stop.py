"""The command line, what is said at start, and how it ends."""

import signal
import socket

import pytest

from harness import client as clients
from harness import proxy as proxies
from harness.client import Client
from harness.origin import HttpOrigin, Origin, closed_port, echo, ok, payload, sha256
from harness.proxy import LISTENING, Proxy
from harness.timing import Stopwatch, limit, wait_until
from harness.tunnels import MAIN_FRONTS, front

COMMANDS = ("http", "socks", "mixed", "relay")


# ---- command line and exit codes ----

def test_version_names_itself():
    done = proxies.run("version")
    assert done.returncode == 0
    assert done.stdout.startswith("headrace "), done.stdout


def test_help_is_complete():
    done = proxies.run("help")
    assert done.returncode == 0
    for command in (*COMMANDS, "version", "help"):
        assert command in done.stdout
    options = ("--workers", "--allow", "--engine", "--splice", "--access-log", "--log-level", "--set")
    for command in COMMANDS:
        done = proxies.run("help", command)
        assert done.returncode == 0, done
        own = ("--to",) if command == "relay" else ("--user", "--open", "--allow-private")
        for option in (*options, *own):
            assert option in done.stdout, f"help {command} lacks {option}"


@pytest.mark.parametrize("arguments", (
    (), ("nonsense",), ("http", "--nonsense"), ("http", "127.0.0.1:0", "--workers"), ("relay", "127.0.0.1:0"),
    ("relay", "--to", "127.0.0.1:9"), ("help", "nonsense"),
))
def test_wrong_usage_is_exit_code_2(arguments):
    done = proxies.run(*arguments)
    assert done.returncode == 2, done
    assert done.stderr.strip()


@pytest.mark.parametrize("arguments", (
    ("http", "127.0.0.1"), ("http", "127.0.0.1:65536"), ("http", "127.0.0.1:x"), ("http", "[::1:80"),
    ("http", "no.such.host.invalid:0"), ("relay", "127.0.0.1:0", "--to", "127.0.0.1"),
    ("relay", "127.0.0.1:0", "--to", "127.0.0.1:0"), ("http", "127.0.0.1:0", "--workers", "0"),
    ("http", "127.0.0.1:0", "--workers", "many"), ("http", "127.0.0.1:0", "--splice", "sometimes"),
    ("http", "127.0.0.1:0", "--log-level", "loud"), ("http", "127.0.0.1:0", "--set", "idle_timeout"),
))
def test_bad_values_do_not_start(arguments):
    """The bad value stands in the message."""
    done = proxies.run(*arguments)
    assert done.returncode in (1, 2), done
    assert arguments[-1] in done.stderr, done.stderr


@pytest.mark.parametrize("setting", ("idle_timeout=2", "idle_timeout=-1s", "idle_timeout=soon", "idle_timeout=",
                                     "max_connections=-1", "max_connections=many", "dns_servers=here",
                                     "source=everywhere", "splice=sometimes"))
def test_bad_settings_are_exit_code_1(setting):
    done = proxies.run("http", "127.0.0.1:0", "--set", setting)
    assert done.returncode == 1, done
    assert setting.partition("=")[0] in done.stderr


def test_unknown_settings_are_refused_with_the_nearest_known_one():
    done = proxies.run("http", "127.0.0.1:0", "--set", "idel_timeout=2s")
    assert done.returncode == 1, done
    assert "idel_timeout" in done.stderr and "idle_timeout" in done.stderr


def test_a_port_in_use_is_exit_code_1_and_named():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = "127.0.0.1:%d" % taken.getsockname()[1]
        done = proxies.run("http", address)
        assert done.returncode == 1, done
        assert address in done.stderr
        assert "in use" in done.stderr.lower()


def test_if_one_of_two_addresses_is_taken_neither_is_served():
    free = closed_port()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = proxies.run("http", f"127.0.0.1:{free}", "127.0.0.1:%d" % taken.getsockname()[1])
        assert done.returncode == 1, done


def test_an_address_of_another_host_is_exit_code_1():
    done = proxies.run("relay", "192.0.2.77:0", "--to", "127.0.0.1:9")
    assert done.returncode == 1, done
    assert "192.0.2.77" in done.stderr


def test_an_access_log_that_cannot_be_opened_is_exit_code_1():
    done = proxies.run("http", "127.0.0.1:0", "--access-log", "/nonexistent/access.log")
    assert done.returncode == 1, done
    assert "/nonexistent/access.log" in done.stderr


# ---- the listening lines ----

@pytest.mark.parametrize("command", COMMANDS)
def test_one_listening_line_per_listener_with_its_real_port(command):
    options = ("--to", "127.0.0.1:9") if command == "relay" else ()
    with Proxy(command, *options, "--workers", "2", listen=["127.0.0.1:0", "[::1]:0", "127.0.0.2:0"]) as proxy:
        assert [entry["kind"] for entry in proxy.listeners] == [command] * 3
        assert [host for host, _ in proxy.addresses] == ["127.0.0.1", "::1", "127.0.0.2"]
        assert all(port > 0 for _, port in proxy.addresses)
        assert all(entry["workers"] == 2 for entry in proxy.listeners)
        for address in proxy.addresses:
            with Client(address):
                pass
    assert sum(bool(LISTENING.search(line)) for line in proxy.log_lines) == 3


def test_a_fixed_port_is_used_and_is_free_again_after_the_end():
    port = closed_port()
    for _ in range(3):
        with Origin(echo) as origin, Proxy("http", listen=f"127.0.0.1:{port}") as proxy:
            assert proxy.address == ("127.0.0.1", port)
            with Client(proxy.address) as client:
                assert clients.http_connect(client, *origin.address).status == 200


def test_all_addresses_means_both_families():
    with Origin(echo) as origin, Proxy("socks", "--open", listen=":0") as proxy:
        for host in ("127.0.0.1", "::1", "127.0.0.9"):
            with Client((host, proxy.port)) as client:
                assert clients.socks5(client, *origin.address).code == 0


def test_the_descriptor_limit_is_raised_and_told():
    with Proxy("http", "--log-level", "info", rlimit_nofile=(256, 4096)) as proxy:
        with open(f"/proc/{proxy.pid}/limits", encoding="ascii") as file:
            line = next(line for line in file if line.startswith("Max open files"))
        assert line.split()[3:5] == ["4096", "4096"]
        assert "4096" in proxy.log_text


# ---- shutting down ----

@pytest.mark.parametrize("number", (signal.SIGTERM, signal.SIGINT))
def test_an_idle_proxy_ends_at_once(number):
    with Proxy("http") as proxy:
        watch = Stopwatch()
        proxy.signal(number)
        proxy.expect_exit(0)
        assert watch.seconds < limit(1)


@pytest.mark.parametrize("number", (signal.SIGTERM, signal.SIGINT))
@pytest.mark.parametrize("name", MAIN_FRONTS)
def test_sessions_go_on_until_done_after_the_first_signal(name, number):
    """The listener closes at once; the running transfer is not disturbed; then the process ends with 0."""
    data = payload(5 << 20)

    def script(conn):
        conn.read_until(b"go")
        conn.send(data)
        conn.read_until(b"done")
        conn.fin()
        conn.read_to_end()

    with Origin(script) as origin, front(name, origin) as via, via.open() as client:
        client.send(b"g")
        origin.wait_connection().wait_received(1)
        via.proxy.signal(number)
        wait_until(lambda: _refuses(via.proxy.address), 1, "the listener is closed")
        client.send(b"o")
        assert client.hash_exactly(len(data)) == sha256(data)
        assert via.proxy.running
        client.send(b"done")
        client.expect_end(how="eof")
        client.close()
        via.proxy.expect_exit(0, seconds=2)


def _refuses(address):
    try:
        Client(address).close()
    except ConnectionRefusedError:
        return True
    return False


@pytest.mark.parametrize("first, second", ((signal.SIGTERM, signal.SIGTERM), (signal.SIGINT, signal.SIGINT),
                                           (signal.SIGINT, signal.SIGTERM)))
def test_a_second_signal_ends_at_once(first, second):
    with Origin(echo) as origin, front("relay", origin) as via, via.open() as client:
        client.send(b"x")
        assert client.exactly(1) == b"x"
        via.proxy.signal(first)
        wait_until(lambda: _refuses(via.proxy.address), 1, "the listener is closed")
        assert via.proxy.running
        watch = Stopwatch()
        via.proxy.signal(second)
        via.proxy.expect_exit(0)
        assert watch.seconds < limit(1)
        client.expect_end()


def test_drain_timeout_cuts_what_is_left():
    with Origin(echo) as origin, front("relay", origin, "--set", "drain_timeout=1s") as via, via.open() as client:
        client.send(b"x")
        assert client.exactly(1) == b"x"
        watch = Stopwatch()
        via.proxy.signal(signal.SIGTERM)
        via.proxy.expect_exit(0)
        assert 0.8 < watch.seconds < limit(2.5)
        client.expect_end()


def test_idle_keep_alive_clients_do_not_hold_up_the_end():
    with HttpOrigin(lambda request: ok(b"x")) as origin, Proxy("http") as proxy, Client(proxy.address) as client:
        client.send(f"GET http://{origin.authority}/ HTTP/1.1\r\nHost: {origin.authority}\r\n\r\n")
        assert client.response().body == b"x"
        watch = Stopwatch()
        proxy.signal(signal.SIGTERM)
        proxy.expect_exit(0)
        assert watch.seconds < limit(2)
        client.expect_end()


def test_an_http_answer_under_way_is_finished_and_says_close():
    def answer(request):
        wait_until(lambda: _refuses(proxy.address), 5, "drain has begun")
        return ok(b"late")

    with HttpOrigin(answer) as origin, Proxy("http") as proxy, Client(proxy.address) as client:
        client.send(f"GET http://{origin.authority}/ HTTP/1.1\r\nHost: {origin.authority}\r\n\r\n")
        origin.wait_requests(1)
        proxy.signal(signal.SIGTERM)
        response = client.response()
        assert response.body == b"late"
        assert "close" in (response.get("connection") or "").lower()
        client.expect_end()
        proxy.expect_exit(0, seconds=2)


def test_clients_in_set_up_do_not_hold_up_the_end():
    """They asked for nothing yet, or were in the middle of it."""
    with Proxy("mixed", "--set", "drain_timeout=3s", "--set", "setup_timeout=2s") as proxy:
        with Client(proxy.address), Client(proxy.address) as half:
            half.send(b"\x05\x01")
            watch = Stopwatch()
            proxy.signal(signal.SIGTERM)
            proxy.expect_exit(0)
            assert watch.seconds < limit(3)


def test_unknown_signals_do_not_matter():
    """A window that changes its size or a broken pipe ends nothing."""
    with Origin(echo) as origin, front("relay", origin) as via, via.open() as client:
        for number in (signal.SIGPIPE, signal.SIGWINCH, signal.SIGCHLD, signal.SIGURG):
            via.proxy.signal(number)
        client.send(b"x")
        assert client.exactly(1) == b"x"
