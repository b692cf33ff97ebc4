"""What the HTTP tests share: requests in the field cases' notation, and what a refusal has to look like."""

import base64
import contextlib
import hashlib
import re
import socket
import time

from harness.client import Client
from harness.origin import HttpOrigin, ok

_SIGNS = {"¶": "\r\n", "␊": "\n", "␍": "\r", "␀": "\0"}


def wire(text):
    """Bytes of a field case's notation: ¶ is CR LF, ␊ LF, ␍ CR, ␀ NUL; the rest is UTF-8."""
    for sign, meaning in _SIGNS.items():
        text = text.replace(sign, meaning)
    return text.encode("utf-8")


def request(url, *fields, method="GET", version="1.1", host=None, body=b""):
    """A request in absolute form. Host is the URL's authority unless `host` names another; "" leaves it out.

    A body gets its Content-Length unless `fields` has framing of its own."""
    if host is None:
        host = re.sub(r"(?i)^[a-z]+://([^/?#]*).*$", r"\1", url)
    lines = [f"{method} {url} HTTP/{version}", *([f"Host: {host}"] if host else []), *fields]
    if body and not any(re.match("(?i)content-length|transfer-encoding", field) for field in fields):
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def chunked(*parts, trailer=b""):
    """The parts as chunks, with the last chunk and the trailer lines."""
    return b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n" + trailer + b"\r\n"


def basic(user, password, scheme="Basic"):
    """A Proxy-Authorization line."""
    token = base64.b64encode(f"{user}:{password}".encode()).decode()
    return f"Proxy-Authorization: {scheme} {token}"


class FineOrigin(HttpOrigin):
    """Answers every request with `fine`. `complete`: those that arrived as a whole."""

    def __init__(self):
        self.complete = []
        super().__init__(self._note)

    def _note(self, asked):
        self.complete.append(asked)
        return ok(b"fine")

    def expect_none_complete(self):
        """All connections to it were given up, and none brought a whole request."""
        for conn in list(self.connections):
            conn.wait_ended()
        assert not self.complete


# ---- what is asserted again and again ----

# RFC 9209: a list member for us with the parameters that we use.
_PROXY_STATUS = re.compile(r'headrace(?:; *[a-z*][a-z0-9_.*-]*=(?:"[ !#-\[\]-~\\"]*"|[A-Za-z0-9_:/*-]+))+')
_PROXY_STATUS_ERROR = re.compile(r"; *error=([a-z_]+)")
# The error types of RFC 9209 section 2.3 that a forward proxy can meet.
_ERROR_TYPES = {
    "dns_timeout", "dns_error", "destination_not_found", "destination_unavailable", "destination_ip_prohibited",
    "destination_ip_unroutable", "connection_refused", "connection_terminated", "connection_timeout",
    "connection_read_timeout", "connection_write_timeout", "connection_limit_reached", "tls_protocol_error",
    "http_request_error", "http_request_denied", "http_response_incomplete", "http_response_timeout",
    "http_upgrade_failed", "http_protocol_error", "proxy_internal_response", "proxy_internal_error",
    "proxy_configuration_error", "proxy_loop_detected",
}


def assert_made_by_proxy(response, *statuses, to="GET", error=None):
    """The answer is the proxy's own, with one of `statuses`, a reason for people and one for programs.

    error: the RFC 9209 error types that fit, as a string or a set."""
    assert response.status in statuses, response
    assert response.version == "1.1", response
    kind = response.get("proxy-status")
    assert kind and _PROXY_STATUS.fullmatch(kind), f"Proxy-Status: {kind}"
    found = _PROXY_STATUS_ERROR.search(kind)
    assert found and found.group(1) in _ERROR_TYPES, f"Proxy-Status: {kind}"
    if error:
        assert found.group(1) in ({error} if isinstance(error, str) else error), f"Proxy-Status: {kind}"
    assert (response.get("content-type") or "").split(";")[0] == "text/plain", response
    if to == "HEAD":
        return
    assert response.framing == "length" and response.clean, response
    assert 10 <= len(response.body) <= 500 and response.text.rstrip("\n").isprintable(), response


def expect_refusal(client, *statuses, to="GET", error=None, ends=True):
    """Reads the proxy's own answer and, unless the connection may go on, its end."""
    response = client.response(to=to)
    assert_made_by_proxy(response, *statuses, to=to, error=error)
    if ends:
        assert response.get("connection") == "close", response
        client.expect_end()
    return response


def expect_success(client, body=b"fine", to="GET"):
    """Reads an answer of 200 with that body."""
    response = client.response(to=to)
    assert response.status == 200 and response.clean, response
    if body is not None and to != "HEAD":
        assert response.body == body, response
    return response


def targets_seen(proxy, origin, *fields):
    """The targets of all requests that reached `origin`, up to a probe sent now, which certainly did."""
    with Client(proxy.address) as probe:
        probe.send(request(f"http://{origin.authority}/probe", "Connection: close", *fields))
        response = probe.response()
        assert response.status == 200, response
    seen = [seen.target for seen in origin.requests]
    assert "/probe" in seen
    return [target for target in seen if target != "/probe"]


def names_asked(proxy, dns):
    """The names that the proxy has looked up, up to a probe sent now."""
    with Client(proxy.address) as probe:
        probe.send(request("http://probe.example.test:9/"))
        expect_refusal(probe, 502, ends=False)
    return {query.name.lower() for query in dns.queries} - {"probe.example.test"}


def expect_no_reset(client, seconds=0.3):
    """The connection is not reset while the answer in its buffer waits to be read."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        error = client.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        assert error == 0, f"reset before the answer could be read (errno {error})"
        time.sleep(0.02)


def send_and_end(conn, data):
    """An origin's last words, to a proxy that may have had enough before them all."""
    with contextlib.suppress(OSError):
        conn.send(data)
        conn.fin()
        conn.drain()


def send_what_is_taken(client, data, segment_bytes=None, gap=0.0):
    """Sends as much of `data` as the proxy takes before it ends the connection."""
    size = segment_bytes or len(data)
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        for at in range(0, len(data), size):
            client.send(data[at:at + size])
            if gap:
                time.sleep(gap)


# ---- large bodies at an origin whose script reads them itself (HttpOrigin(read_body=False)) ----

def hash_body(request):
    """(count, sha256) of a request body, read from the connection as it is framed, without keeping it."""
    digest, count = hashlib.sha256(), 0

    def take(size):
        nonlocal count
        while size:
            data = request.conn.read_until(lambda unread: min(len(unread), size))
            digest.update(data)
            size -= len(data)
            count += len(data)
    if request.get("transfer-encoding") == "chunked":
        while size := int(request.conn.read_until(b"\r\n").partition(b";")[0], 16):
            take(size)
            assert request.conn.read_exactly(2) == b"\r\n"
        while request.conn.read_until(b"\r\n") != b"\r\n":
            pass
    else:
        take(int(request.get("content-length") or 0))
    return count, digest.hexdigest()

