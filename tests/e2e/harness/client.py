"""Raw clients: they send exactly the bytes that a test names, and show exactly what came back.

    with Client(proxy.address) as client:
        client.segments("GET http://o.example.test/ HT|TP/1.1\\r\\n\\r\\n")
        response = client.response()
"""

import hashlib
import re
import socket
import struct
import time

from .timing import limit, wait_until

_IP_BIND_ADDRESS_NO_PORT = 24  # <linux/in.h>; not in Python's socket module

# The gap between the segments of a field case.
SEGMENT_GAP_SECONDS = 0.1


class Ended(AssertionError):
    """The proxy ended or reset the connection where a test wanted more bytes."""


class Client:
    """A TCP connection to the proxy. Every wait has the same limit, `timeout` seconds.

    ended    None, "eof" or "reset", once a read has seen it
    netns    a harness.netns.NetNs to connect from;  source: (host, port) to connect from
    """

    def __init__(self, address, timeout=10, netns=None, source=None, receive_buffer=None, connected=None):
        make = connected and (lambda: connected) or (lambda: self._connect(address, source, receive_buffer, timeout))
        self.ended = None
        self.socket = netns.run(make) if netns else make()
        self.socket.settimeout(limit(timeout))
        self._unread = bytearray()

    def _connect(self, address, source, receive_buffer, timeout):
        unix = isinstance(address, str)
        family = socket.AF_UNIX if unix else socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        sock = socket.socket(family, socket.SOCK_STREAM)
        try:
            if not unix:
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if receive_buffer:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
            if source:
                # The port is chosen by connect, so that it may be one that is used towards others.
                sock.setsockopt(socket.IPPROTO_IP, _IP_BIND_ADDRESS_NO_PORT, 1)
                sock.bind(source)
            sock.settimeout(limit(timeout))
            sock.connect(address)
        except ConnectionResetError:
            self.ended = "reset"  # accepted, and reset before connect(2) returned
        except BaseException:
            sock.close()
            raise
        return sock

    # ---- sending ----

    def send(self, data):
        self.socket.sendall(_bytes(data))

    def segments(self, data, gap=SEGMENT_GAP_SECONDS):
        """Sends the parts between `|` as separate segments, or the items of a list."""
        parts = data if isinstance(data, (list, tuple)) else _bytes(data).split(b"|")
        for number, part in enumerate(parts):
            if number:
                time.sleep(gap)
            self.send(part)

    def byte_by_byte(self, data, gap=0.02):
        self.segments([bytes([byte]) for byte in _bytes(data)], gap)

    def fin(self):
        """Ends our sending side."""
        self.socket.shutdown(socket.SHUT_WR)

    def reset(self):
        """Ends the connection with RST."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close()

    def close(self):
        self.socket.close()

    # ---- receiving ----

    def _fill(self):
        """Reads what is there; False once the proxy has ended or reset."""
        if self.ended:
            return False
        try:
            data = self.socket.recv(256 * 1024)
        except (ConnectionResetError, BrokenPipeError):
            self.ended = "reset"
            return False
        except TimeoutError:
            raise AssertionError(f"hangs: nothing for {self.socket.gettimeout():g} s after "
                                 f"{bytes(self._unread[-300:])!r}") from None
        if not data:
            self.ended = "eof"
            return False
        self._unread += data
        return True

    def read_until(self, mark):
        """The bytes up to and with `mark`."""
        mark = _bytes(mark)
        while (at := self._unread.find(mark)) < 0:
            if not self._fill():
                raise Ended(f"{self.ended} before {mark!r}, after {bytes(self._unread[-500:])!r}")
        return self._take(at + len(mark))

    def exactly(self, count):
        while len(self._unread) < count:
            if not self._fill():
                raise Ended(f"{self.ended} after {len(self._unread)} of {count} bytes: "
                            f"{bytes(self._unread[-200:])!r}")
        return self._take(count)

    def to_end(self):
        """All bytes until the proxy ends; look at `ended` for how."""
        while self._fill():
            pass
        return self._take(len(self._unread))

    def hash_to_end(self):
        """(count, sha256) of all bytes until the proxy ends."""
        digest, count = hashlib.sha256(), 0
        while self._unread or self._fill():
            data = self._take(len(self._unread))
            digest.update(data)
            count += len(data)
        return count, digest.hexdigest()

    def hash_exactly(self, total):
        """sha256 of the next `total` bytes."""
        digest, count = hashlib.sha256(), 0
        while count < total:
            if not self._unread and not self._fill():
                raise Ended(f"{self.ended} after {count} of {total} bytes")
            data = self._take(min(len(self._unread), total - count))
            digest.update(data)
            count += len(data)
        return digest.hexdigest()

    def _take(self, count):
        data = bytes(self._unread[:count])
        del self._unread[:count]
        return data

    def unread(self):
        """What has been received and not been read yet, without waiting."""
        return bytes(self._unread)

    def expect_end(self, seconds=2, how=("eof", "reset"), after=b""):
        """The proxy ends within `seconds` and sends exactly `after` before that."""
        self.socket.settimeout(limit(seconds))
        got = self.to_end()
        assert got == after, f"before the end came {got[:500]!r}, not {after[:500]!r}"
        wanted = (how,) if isinstance(how, str) else how
        assert self.ended in wanted, f"ended by {self.ended}, not {wanted}"

    def expect_silence(self, seconds=0.3):
        """Nothing comes for `seconds`, and the connection stays."""
        self.socket.settimeout(seconds)
        try:
            data = self.socket.recv(1000)
        except TimeoutError:
            return
        finally:
            self.socket.settimeout(limit(10))
        raise AssertionError(f"expected silence, got {data!r}" if data else "expected silence, got an end")

    def response(self, to="GET"):
        """Reads one final HTTP/1 response to a request with method `to`; 1xx before it are collected."""
        interim = []
        while True:
            response = _read_response(self, to)
            if 100 <= response.status < 200 and response.status != 101:
                interim.append(response)
                continue
            response.interim = interim
            return response

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def _bytes(data):
    return data.encode("latin-1") if isinstance(data, str) else bytes(data)


# ---- HTTP/1 responses ----

_STATUS_LINE = re.compile(rb"HTTP/(1\.[01]) ([1-5][0-9]{2}) ([\t -~\x80-\xff]*)\r\n")
_FIELD = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t -~\x80-\xff]*?)[ \t]*\r\n")
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,16})((?:[ \t]*;[\t -~\x80-\xff]*)?)\r\n")


class Response:
    """A response read strictly; anything that is no HTTP/1 is a failed assertion.

    raw       all its bytes;  head, body, trailers (list of pairs), chunks (sizes as sent, [] if not chunked)
    framing   "none", "length", "chunked" or "close"
    clean     the message is whole: all of its length came, the last chunk, or an orderly FIN
    """

    def __init__(self):
        self.version, self.status, self.reason = "", 0, ""
        self.fields, self.trailers, self.chunks, self.interim = [], [], [], []
        self.raw = self.head = self.body = b""
        self.framing, self.clean = "none", True

    def all(self, name):
        return [value for key, value in self.fields if key.lower() == name.lower()]

    def get(self, name):
        """The value of the one field of that name; None without it; fails when it is there twice."""
        values = self.all(name)
        assert len(values) <= 1, f"{name} is there {len(values)} times: {values}"
        return values[0] if values else None

    @property
    def text(self):
        return self.body.decode("utf-8", "replace")

    def __repr__(self):
        return f"<{self.status} {self.raw[:500]!r} framing={self.framing} clean={self.clean}>"


def _read_fields(client, response):
    fields = []
    while (line := client.read_until(b"\r\n")) != b"\r\n":
        response.raw += line
        match = _FIELD.fullmatch(line)
        assert match, f"no field line: {line!r}"
        fields.append((match.group(1).decode(), match.group(2).decode("latin-1")))
    response.raw += line
    return fields


def _read_response(client, to):
    response = Response()
    line = client.read_until(b"\r\n")
    match = _STATUS_LINE.fullmatch(line)
    assert match, f"no status line: {line!r}"
    response.raw = line
    response.version, response.status = match.group(1).decode(), int(match.group(2))
    response.reason = match.group(3).decode("latin-1")
    response.fields = _read_fields(client, response)
    response.head = response.raw
    coding, length = response.get("transfer-encoding"), response.get("content-length")
    assert not (coding and length), f"both Transfer-Encoding and Content-Length: {response.head!r}"
    if to == "HEAD" or response.status < 200 or response.status in (204, 304):
        return response
    if to == "CONNECT" and response.status < 300:
        return response
    if coding:
        assert coding.lower() == "chunked", f"Transfer-Encoding: {coding}"
        response.framing = "chunked"
        _read_chunks(client, response)
    elif length is not None:
        assert length.isascii() and length.isdigit(), f"Content-Length: {length}"
        response.framing = "length"
        _read_length(client, response, int(length))
    else:
        response.framing = "close"
        response.body = client.to_end()
        response.raw += response.body
        response.clean = client.ended == "eof"
    return response


def _read_length(client, response, length):
    try:
        response.body = client.exactly(length)
    except Ended:
        response.body = client.to_end()
        response.clean = False
    response.raw += response.body


def _read_chunks(client, response):
    body = []
    try:
        while True:
            line = client.read_until(b"\r\n")
            response.raw += line
            match = _CHUNK.fullmatch(line)
            assert match, f"no chunk line: {line!r}"
            size = int(match.group(1), 16)
            if size == 0:
                break
            response.chunks.append(size)
            data = client.exactly(size + 2)
            response.raw += data
            assert data.endswith(b"\r\n"), f"chunk of {size} ends with {data[-2:]!r}"
            body.append(data[:-2])
        response.trailers = _read_fields(client, response)
    except Ended:
        response.raw += client.to_end()
        response.clean = False
    response.body = b"".join(body)


# ---- SOCKS and CONNECT ----

def socks_address(host, port):
    """ATYP, DST.ADDR and DST.PORT (RFC 1928 section 4): an address if `host` is one, else a domain."""
    for family, kind in ((socket.AF_INET, b"\x01"), (socket.AF_INET6, b"\x04")):
        try:
            return kind + socket.inet_pton(family, host) + struct.pack("!H", port)
        except OSError:
            pass
    return socks_domain(host, port)


def socks_domain(host, port):
    """The same as ATYP 3, whatever `host` is."""
    name = _bytes(host)
    return b"\x03" + bytes([len(name)]) + name + struct.pack("!H", port)


def socks5_request(destination, command=1):
    """The request for `destination`, which socks_address() or socks_domain() made."""
    return bytes([5, command, 0]) + destination


class Socks5Reply:
    """code, the raw bytes, and the bound address."""

    def __init__(self, raw):
        self.raw = raw
        self.version, self.code, self.reserved, self.kind = raw[:4]
        if self.kind == 1:
            self.host = socket.inet_ntop(socket.AF_INET, raw[4:8])
        elif self.kind == 4:
            self.host = socket.inet_ntop(socket.AF_INET6, raw[4:20])
        else:
            self.host = raw[5:-2].decode("latin-1")
        self.port = struct.unpack("!H", raw[-2:])[0]

    def __repr__(self):
        return f"<SOCKS5 reply {self.code:02x} {self.host}:{self.port} raw={self.raw.hex(' ')}>"


def read_socks5_reply(client):
    """Reads one SOCKS5 reply, whatever its code."""
    raw = client.exactly(4)
    assert raw[0] == 5 and raw[2] == 0, f"no SOCKS5 reply: {raw!r}"
    assert raw[3] in (1, 3, 4), f"ATYP {raw[3]}"
    rest = {1: 4, 4: 16}.get(raw[3])
    if rest is None:
        raw += client.exactly(1)
        rest = raw[4]
    return Socks5Reply(raw + client.exactly(rest + 2))


def socks5_greet(client, user=None):
    """The method negotiation, and RFC 1929 with user = (name, password)."""
    method = b"\x02" if user else b"\x00"
    client.send(b"\x05\x01" + method)
    answer = client.exactly(2)
    assert answer == b"\x05" + method, f"method reply {answer.hex(' ')}"
    if user:
        name, password = map(_bytes, user)
        client.send(b"\x01" + bytes([len(name)]) + name + bytes([len(password)]) + password)
        answer = client.exactly(2)
        assert answer == b"\x01\x00", f"authentication reply {answer.hex(' ')}"


def socks5(client, host, port, user=None, early=b"", as_domain=False):
    """SOCKS5 CONNECT; returns the reply. `early` is sent in the same segment as the request."""
    socks5_greet(client, user)
    destination = socks_domain(host, port) if as_domain else socks_address(host, port)
    client.send(socks5_request(destination) + early)
    return read_socks5_reply(client)


def socks4_request(host, port, command=1, user=b""):
    """SOCKS4 for an IPv4 address, SOCKS4a for anything else."""
    try:
        address, name = socket.inet_pton(socket.AF_INET, host), b""
    except OSError:
        address, name = b"\x00\x00\x00\x01", _bytes(host) + b"\x00"
    return b"\x04" + bytes([command]) + struct.pack("!H", port) + address + _bytes(user) + b"\x00" + name


def read_socks4_reply(client):
    """The 8 bytes of a SOCKS4 reply; [1] is the code, 0x5a for granted."""
    raw = client.exactly(8)
    assert raw[0] == 0, f"no SOCKS4 reply: {raw.hex(' ')}"
    return raw


def socks4(client, host, port, early=b"", user=b""):
    client.send(socks4_request(host, port, user=user) + early)
    return read_socks4_reply(client)


def authority(host, port):
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def connect_head(host, port, *fields):
    """A CONNECT request's head; `fields` are more lines."""
    target = authority(host, port)
    return "\r\n".join([f"CONNECT {target} HTTP/1.1", f"Host: {target}", *fields, "", ""]).encode("latin-1")


def http_connect(client, host, port, *fields, early=b""):
    """HTTP CONNECT; returns the response."""
    client.send(connect_head(host, port, *fields) + early)
    return client.response(to="CONNECT")


# ---- the kernel's view ----

def wait_no_sockets(port, states=("08",), seconds=2):
    """Waits until no socket of this network namespace has local or remote `port` in one of `states`
    (hex of the kernel's table; 08 is CLOSE_WAIT)."""
    def found():
        wanted = f"{port:04X}"
        hits = []
        for table in ("/proc/net/tcp", "/proc/net/tcp6"):
            with open(table, encoding="ascii") as file:
                for line in list(file)[1:]:
                    fields = line.split()
                    ports = fields[1].rpartition(":")[2], fields[2].rpartition(":")[2]
                    if wanted in ports and fields[3] in states:
                        hits.append(line.strip())
        return hits
    wait_until(lambda: not found(), seconds, lambda: f"sockets in {states}: {found()[:5]}")


