"""20 MiB bodies each way, in every framing, copied and spliced, with hashes."""

import threading

import pytest

from harness.client import Client
from harness.origin import Close, HttpOrigin, ok, payload, sha256
from harness.proxy import Proxy
from http_support import expect_success, hash_body, request, wire

DATA = payload(20 * 1024 * 1024)
DIGEST = sha256(DATA)
CHUNK_BYTES = 61_111  # no multiple of anything


def as_chunks(data):
    parts = (data[at:at + CHUNK_BYTES] for at in range(0, len(data), CHUNK_BYTES))
    return b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


_ANSWERS = {
    "length": lambda: ok(DATA),
    "chunked": lambda: wire("HTTP/1.1 200 OK¶Transfer-Encoding: chunked¶¶") + as_chunks(DATA),
    "close": lambda: Close(b"HTTP/1.1 200 OK\r\n\r\n" + DATA),
}


@pytest.fixture(name="each_proxy", params=["never", "always", "auto"], scope="module")
def each_proxy_fixture(request):  # noqa: F811 -- pytest's own name for it
    with Proxy("http", "--workers", "1", "--splice", request.param) as running:
        yield running


@pytest.mark.parametrize("version", ["1.1", "1.0"])
@pytest.mark.parametrize("framing", _ANSWERS)
def test_20_mib_down(each_proxy, framing, version):
    with HttpOrigin(lambda asked: _ANSWERS[framing]()) as origin, Client(each_proxy.address) as client:
        client.send(request(f"http://{origin.authority}/", version=version))
        response = expect_success(client, body=None)
        assert (len(response.body), sha256(response.body)) == (len(DATA), DIGEST)


@pytest.mark.parametrize("framing", ["length", "chunked"])
def test_20_mib_up(each_proxy, framing):
    def answer(asked):
        asked.conn.send(ok("{} {}".format(*hash_body(asked)).encode()))
        asked.conn.read_to_end()
    with HttpOrigin(answer, read_body=False) as origin, Client(each_proxy.address) as client:
        head = {"length": f"Content-Length: {len(DATA)}", "chunked": "Transfer-Encoding: chunked"}[framing]
        client.send(request(f"http://{origin.authority}/", head, method="POST"))
        client.send(DATA if framing == "length" else as_chunks(DATA))
        expect_success(client, f"{len(DATA)} {DIGEST}".encode())


def test_20_mib_both_ways_at_once(each_proxy):
    """An origin that answers while it reads, as an echo service does."""
    def answer(asked):
        asked.conn.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(DATA))
        left = len(DATA)
        while left:
            data = asked.conn.read_until(lambda unread: len(unread))
            left -= len(data)
            asked.conn.send(data)
        asked.conn.read_to_end()
    with HttpOrigin(answer, read_body=False) as origin, Client(each_proxy.address) as client:
        client.send(request(f"http://{origin.authority}/", f"Content-Length: {len(DATA)}", method="POST"))
        sender = threading.Thread(target=client.send, args=(DATA,))
        sender.start()
        response = expect_success(client, body=None)
        sender.join()
        assert (len(response.body), sha256(response.body)) == (len(DATA), DIGEST)


def test_next_request_behind_20_mib(each_proxy):
    """The connections are fit for more after a body that was spliced."""
    with HttpOrigin(lambda asked: ok(DATA) if asked.target == "/big" else ok(b"small")) as origin, \
         Client(each_proxy.address) as client:
        for _ in range(2):
            client.send(request(f"http://{origin.authority}/big") + request(f"http://{origin.authority}/small"))
            assert sha256(expect_success(client, body=None).body) == DIGEST
            expect_success(client, b"small")
        assert len(origin.connections) == 1
