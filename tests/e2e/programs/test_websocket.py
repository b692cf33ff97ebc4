"""WebSockets through the proxy, between Debian's python3-websockets and itself or raw RFC 6455 frames."""

import asyncio
import base64
import hashlib
import os
import ssl
import struct

import pytest
import websockets

from harness import tunnels
from harness.client import Client
from harness.proxy import Proxy
from harness.timing import limit

_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455 section 1.3
BIG = os.urandom(5 * 1024 * 1024)


async def _echo(websocket):
    async for message in websocket:
        await websocket.send(message)


def serve(**options):
    return websockets.serve(_echo, "127.0.0.1", 0, max_size=None, **options)


def port_of(server):
    return server.sockets[0].getsockname()[1]


async def converse(websocket):
    """Text, binary, fragments, 5 MiB, ping, and an orderly end."""
    await websocket.send("grüße")
    assert await websocket.recv() == "grüße"
    await websocket.send(["in ", "three ", "frames"])
    assert await websocket.recv() == "in three frames"
    await websocket.send(BIG)
    assert await websocket.recv() == BIG
    await asyncio.wait_for(await websocket.ping(), limit(5))
    await websocket.close()
    assert websocket.close_code == 1000


@pytest.mark.parametrize("how, command", [("connect", "http"), ("socks5", "socks"), ("socks4a", "socks")])
@pytest.mark.parametrize("tls", [False, True], ids=["ws", "wss"])
def test_websocket_in_a_tunnel(certificate, how, command, tls):
    """As browsers do it: a tunnel first, the handshake inside."""
    server_side = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_side.load_cert_chain(certificate.cert, certificate.key)

    async def scenario(proxy):
        async with serve(ssl=server_side if tls else None) as server:
            client = Client(proxy.address)
            await asyncio.to_thread(tunnels.ask, client, how, "localhost", port_of(server))
            client.socket.setblocking(False)
            trust = ssl.create_default_context(cafile=certificate.cert)
            inside = {"ssl": trust, "server_hostname": "localhost"} if tls else {}
            uri = f"{'wss' if tls else 'ws'}://localhost:{port_of(server)}/chat"
            async with websockets.connect(uri, sock=client.socket, max_size=None, **inside) as websocket:
                await converse(websocket)
    with Proxy(command) as proxy:
        asyncio.run(asyncio.wait_for(scenario(proxy), limit(60)))


def frame(opcode, payload, mask=b"\x01\x02\x03\x04"):
    """One final client frame (RFC 6455 section 5.2)."""
    size = len(payload)
    length = bytes([0x80 | size]) if size < 126 else b"\xfe" + struct.pack("!H", size)
    return bytes([0x80 | opcode]) + length + mask + bytes(byte ^ mask[at % 4] for at, byte in enumerate(payload))


def test_websocket_by_upgrade_in_absolute_form(http_proxy):
    """Clients that send `GET ws://...` as an ordinary proxy request: headrace switches with the origin."""
    async def scenario():
        async with serve(compression=None) as server:
            await asyncio.to_thread(exchange, port_of(server))

    def exchange(port):
        key = base64.b64encode(os.urandom(16)).decode()
        with Client(http_proxy.address) as client:
            client.send(f"GET http://localhost:{port}/chat HTTP/1.1\r\nHost: localhost:{port}\r\n"
                        f"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                        f"Sec-WebSocket-Key: {key}\r\n\r\n")
            response = client.response()
            assert response.status == 101, response
            accept = base64.b64encode(hashlib.sha1((key + _GUID).encode()).digest()).decode()
            assert response.get("sec-websocket-accept") == accept
            client.send(frame(2, b"x" * 60_000))
            assert client.exactly(4 + 60_000) == b"\x82\x7e" + struct.pack("!H", 60_000) + b"x" * 60_000
            client.send(frame(9, b"there?"))
            assert client.exactly(2 + 6) == b"\x8a\x06there?"
            client.send(frame(8, struct.pack("!H", 1000)))
            assert client.exactly(4) == b"\x88\x02\x03\xe8"
            client.expect_end(how="eof")
    asyncio.run(asyncio.wait_for(scenario(), limit(30)))
