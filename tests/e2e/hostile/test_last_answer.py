"""The last answer of a connection arrives whole, whatever its client still sends."""

from harness.client import Client
from harness.origin import Origin
from harness.proxy import Proxy

BODY = b"x" * 40_000


def test_a_request_that_comes_too_late_does_not_cut_the_answer_before():
    """The client pipelines before it has read that the connection ends; a closed socket would answer
    with RST, and what is under way to a slow reader would be lost (RFC 9112 section 9.6)."""
    def script(conn):
        conn.read_until(b"\r\n\r\n")
        conn.send(b"HTTP/1.1 200 OK\r\n\r\n" + BODY)
        conn.fin()
        conn.read_to_end()

    with Origin(script) as origin, Proxy("http", "--workers", "1") as proxy, \
            Client(proxy.address, receive_buffer=4096) as client:
        request = f"GET http://{origin.authority}/ HTTP/1.1\r\nHost: a\r\n\r\n"
        client.send(request)
        client.read_until(b"200 OK")
        origin.wait_connection().wait_ended()  # the proxy has all of it, the client little
        client.send(request)
        assert client.to_end().endswith(b"\r\n\r\n" + BODY)
        assert client.ended == "eof"
