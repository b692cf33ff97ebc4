"""Requests that come back to the proxy itself."""

import pytest

from harness import client as clients
from harness.client import Client
from harness.origin import HttpOrigin, closed_port, ok
from harness.proxy import Proxy
from harness.timing import limit, wait_until


def _answer(proxy, text):
    with Client(proxy.address) as client:
        client.send(text)
        return client.response()


@pytest.mark.parametrize("host", ("127.0.0.1", "localhost", "127.1", "[::ffff:127.0.0.1]", "0.0.0.0", "127.0.0.1."))
def test_B146_requests_to_itself_by_http(host):
    """One request grew into thousands until all slots were gone."""
    with Proxy("http") as proxy, proxy.keeps_base_fds():
        port = proxy.port
        response = _answer(proxy, f"GET http://{host}:{port}/ HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n")
        assert 400 <= response.status < 500 or response.status == 508, response
        response = _answer(proxy, f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n")
        assert 400 <= response.status < 500 or response.status == 508, response


def test_B146_origin_form_to_itself():
    """A browser that was pointed at the proxy as if it were a site learns what this is."""
    with Proxy("http") as proxy:
        response = _answer(proxy, f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{proxy.port}\r\n\r\n")
        assert response.status == 400
        assert "proxy" in response.text.lower()


@pytest.mark.parametrize("command", ("socks", "mixed"))
def test_B146_requests_to_itself_by_socks(command):
    with Proxy(command) as proxy, proxy.keeps_base_fds():
        with Client(proxy.address) as client:
            assert clients.socks5(client, "127.0.0.1", proxy.port).code == 2
            client.expect_end()
        with Client(proxy.address) as client:
            assert clients.socks4(client, "127.0.0.1", proxy.port)[1] == 0x5B
            client.expect_end()


def test_B146_requests_to_another_of_its_listeners():
    with Proxy("http", listen=["127.0.0.1:0", "127.0.0.2:0"]) as proxy:
        for client_side, target in (proxy.addresses, proxy.addresses[::-1]):
            with Client(client_side) as client:
                response = clients.http_connect(client, *target)
                assert 400 <= response.status < 500 or response.status == 508, response


def test_B146_a_relay_to_itself():
    """At most a handful of connections, and the client is ended."""
    port = closed_port()
    with Proxy("relay", "--to", f"127.0.0.1:{port}", listen=f"127.0.0.1:{port}") as proxy:
        with proxy.keeps_base_fds(), Client(proxy.address) as client:
            client.socket.settimeout(limit(2))
            most = 0

            def ended():
                nonlocal most
                most = max(most, proxy.fd_kinds()["socket"])
                try:
                    client.socket.setblocking(False)
                    return client.socket.recv(1) == b""
                except BlockingIOError:
                    return False
                except ConnectionError:
                    return True
            wait_until(ended, 2, "the client is ended")
            assert most < 50, f"{most} sockets"


def test_B146_loops_over_a_second_proxy_are_found_by_via():
    """Two relays send each other's requests in a circle: the proxy meets its own Via field."""
    with HttpOrigin(lambda request: ok(request.get("via").encode())) as origin, Proxy("http") as proxy:
        seen = _answer(proxy, f"GET http://{origin.authority}/ HTTP/1.1\r\nHost: {origin.authority}\r\n\r\n").body
        # A name for this very process, so that two headraces in a chain are no loop.
        assert b"headrace" in seen
        response = _answer(proxy, b"GET http://%s/ HTTP/1.1\r\nHost: %s\r\nVia: %s\r\n\r\n"
                           % (origin.authority.encode(), origin.authority.encode(), seen))
        assert response.status == 508, response
        assert len(origin.requests) == 1


def test_an_http_loop_through_a_relay_ends():
    """proxy -> relay -> the same proxy: the address is not the proxy's own, only Via can tell."""
    with Proxy("http") as proxy, Proxy("relay", "--to", f"127.0.0.1:{proxy.port}") as relay:
        with proxy.keeps_base_fds():
            response = _answer(proxy, f"GET http://127.0.0.1:{relay.port}/ HTTP/1.1\r\n"
                                      f"Host: 127.0.0.1:{relay.port}\r\n\r\n")
            # The relay hands on an origin-form request, which the proxy answers with 400 by itself.
            assert response.status in (400, 508)
