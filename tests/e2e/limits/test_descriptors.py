"""Out of file descriptors: load is shed, what runs goes on, nothing spins and nothing leaks."""

import contextlib

import pytest

from harness import client as clients
from harness.client import Client
from harness.dns import DnsServer
from harness.origin import HttpOrigin, Origin, closed_port, echo, ok, payload, sha256
from harness.proxy import Proxy
from harness.timing import wait_until
from harness.tunnels import front


def _base_fds():
    """Descriptors of a proxy at rest with one listener and two workers."""
    with Proxy("socks", "--workers", "2") as proxy:
        return proxy.fds()


def _attempt(via):
    """One client, to its end or its tunnel: "tunnel", "503", "01", "ended"; a hang fails the test.

    Returns (outcome, client); the client is open only with a tunnel.
    """
    client = via.connect(timeout=3)
    try:
        if via.how == "connect":
            response = clients.http_connect(client, via.host, via.port)
            outcome = "tunnel" if response.status == 200 else str(response.status)
        elif via.how == "socks5":
            reply = clients.socks5(client, via.host, via.port)
            outcome = f"{reply.code:02x}" if reply.code else "tunnel"
        if outcome == "tunnel":
            client.send(b"x")
            if client.exactly(1) == b"x":
                return outcome, client
    except (clients.Ended, ConnectionError):
        outcome = "ended"
    client.close()
    return outcome, None


@pytest.mark.parametrize("by_name", (False, True), ids=("address", "name"))
@pytest.mark.parametrize("name", ("connect", "socks5"))
def test_B152_out_of_descriptors_on_the_other_side(name, by_name, dns):
    """Limits in steps of 1, so that in turn accept, the outgoing socket, the DNS socket and a pipe fail:
    503, SOCKS 01 or a close, never a hang, never a leaked client."""
    base = _base_fds()
    seen = set()
    with Origin(echo) as origin:
        for spare in range(0, 14):
            with contextlib.ExitStack() as stack:
                try:
                    via = stack.enter_context(front(name, origin, *dns.options(), "--workers", "2",
                                                    origin_host="o.example.test" if by_name else None,
                                                    rlimit_nofile=base + spare))
                except AssertionError as error:
                    assert "ended with 1" in str(error), error  # it may need more than its base to start
                    assert spare < 6, f"does not start with {spare} spare descriptors: {error}"
                    continue
                with via.proxy.keeps_base_fds():
                    tunnels = []
                    for _ in range(10):
                        outcome, client = _attempt(via)
                        seen.add(outcome)
                        if client:
                            tunnels.append(client)
                    assert via.proxy.running
                    for client in tunnels:
                        client.send(b"y")
                        assert client.exactly(1) == b"y", "a running tunnel suffered"
                        client.close()
                if tunnels:  # what was possible is possible again
                    def works():
                        outcome, client = _attempt(via)
                        if client:
                            client.close()
                        return outcome == "tunnel"
                    wait_until(works, 3, "works again when descriptors are free")
    assert "tunnel" in seen
    assert seen <= {"tunnel", "503", "01", "ended"}, seen
    assert len(seen) > 1, "the limit was never met"


def test_running_out_does_not_spin():
    """Clients wait in the queue of the listening socket while there are no descriptors: CPU stays quiet."""
    with Origin(echo) as origin, front("relay", origin, rlimit_nofile=_base_fds() + 20) as via:
        crowd = [Client(via.proxy.address) for _ in range(60)]
        try:
            via.proxy.assert_cpu_quiet(3)
            assert via.proxy.log_lines
        finally:
            for client in crowd:
                client.close()

        def works():
            try:
                with Client(via.proxy.address, timeout=2) as client:
                    client.send(b"x")
                    return client.exactly(1) == b"x"
            except (AssertionError, ConnectionError):
                return False
        wait_until(works, 5, "serves again when the crowd is gone")


def test_surplus_clients_learn_it_at_once_also_when_all_workers_run_out_together():
    """Each is accepted in the place of a reserve and closed; the workers share one table of descriptors,
    so that one may take what another has just freed."""
    with Origin(echo) as origin, front("socks5", origin, "--workers", "2", rlimit_nofile=_base_fds() + 13) as via:
        with contextlib.ExitStack() as stack:
            while True:
                outcome, client = _attempt(via)
                if not client:
                    break
                stack.callback(client.close)
            # Some descriptors may be left, too few for a tunnel: clients that say nothing take them.
            for _ in range(6):
                stack.enter_context(via.connect())
            for number in range(40):
                crowd = [via.connect(timeout=2) for _ in range(20)]
                for client in crowd:
                    try:
                        assert client.to_end() == b""
                    except AssertionError as error:
                        raise AssertionError(f"round {number}: {error}") from None
                    client.close()


def test_running_out_is_told_by_name_and_not_by_the_thousand():
    with Origin(echo) as origin, front("relay", origin, rlimit_nofile=_base_fds() + 10) as via:
        for _ in range(20):
            crowd = [Client(via.proxy.address) for _ in range(30)]
            for client in crowd:
                client.close()
        via.proxy.wait_log("descriptor")
        assert len(via.proxy.log_lines) < 200


@pytest.mark.parametrize("splice", ("always", "auto"))
def test_without_descriptors_for_pipes_bulk_is_copied(splice):
    """Sockets fit, pipes do not: the bytes arrive all the same."""
    data = payload(2 << 20)

    def script(conn):
        conn.send(data)
        conn.fin()
        conn.read_to_end()

    with Origin(script) as origin:
        for spare in range(3, 14):
            with contextlib.ExitStack() as stack:
                try:
                    via = stack.enter_context(front("relay", origin, "--splice", splice, "--workers", "2",
                                                    rlimit_nofile=_base_fds() + spare))
                except AssertionError as error:
                    assert "ended with 1" in str(error) and spare < 6, error
                    continue
                with via.connect() as client:
                    count, digest = client.hash_to_end()
                    assert count in (0, len(data)), "cut in the middle"
                    if count:
                        assert digest == sha256(data)
                    else:
                        assert spare < 6, f"no descriptors for a tunnel with {spare} spare ones"


def test_an_http_request_without_descriptors_is_answered_503():
    """The client's connection stands already; only the one towards the origin fails."""
    with HttpOrigin(lambda request: ok(b"in")) as origin, DnsServer() as dns:
        for spare in range(1, 12):
            with contextlib.ExitStack() as stack:
                try:
                    proxy = stack.enter_context(Proxy("http", *dns.options(), "--workers", "1",
                                                      rlimit_nofile=_base_fds() + spare))
                except AssertionError as error:
                    assert "ended with 1" in str(error) and spare < 6, error
                    continue
                held = []
                for _ in range(spare + 2):
                    client = stack.enter_context(Client(proxy.address, timeout=3))
                    held.append(client)
                    try:
                        client.send(f"GET http://{origin.authority}/ HTTP/1.1\r\nHost: {origin.authority}\r\n\r\n")
                        response = client.response()
                    except (clients.Ended, ConnectionError):
                        continue
                    assert response.status in (200, 503), response
                    if response.status == 503:
                        assert response.text.strip()


def test_refused_connects_under_a_tight_limit_leak_nothing():
    with front("socks5", ("127.0.0.1", closed_port()), rlimit_nofile=_base_fds() + 8) as via:
        with via.proxy.keeps_base_fds():
            for _ in range(200):
                via.expect_refusal(socks5=(5, 1))


def test_limit_used_by_the_harness_is_real():
    """The control of this file: with room for one tunnel there is no second one."""
    with Origin(echo) as origin, front("socks5", origin, rlimit_nofile=_base_fds() + 12) as via:
        outcomes, held = [], []
        for _ in range(20):
            outcome, client = _attempt(via)
            outcomes.append(outcome)
            held.append(client)
        for client in filter(None, held):
            client.close()
        assert 0 < outcomes.count("tunnel") < 10, outcomes
