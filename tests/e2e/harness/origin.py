"""Scripted upstreams. An Origin runs a script, a function of one Connection, for each connection it
accepts, and keeps all that it received and how each connection ended.

    def script(conn):
        conn.read_until(b"ping")
        conn.send(b"po", b"ng", gap=0.1)
        conn.fin()

    with Origin(script) as origin: ...   # origin.host, origin.port, origin.connections[0].received

HttpOrigin answers requests by a callable. Ready scripts: echo, sink, source(n), silent.
"""

import errno
import hashlib
import itertools
import random
import re
import socket
import struct
import threading
import time

from .timing import limit, wait_until

_CHUNK_BYTES = 256 * 1024


class Ended(Exception):
    """The other side ended (or reset) the connection where a script wanted more bytes."""


class Connection:
    """One accepted connection: a script's hands and a test's eyes."""

    def __init__(self, sock, peer, index):
        self.socket = sock
        self.peer = peer
        self.index = index
        self.received = bytearray()  # all bytes so far; not kept when read with drain()
        self.received_bytes = 0
        self.ended = None            # None, "eof" or "reset", once a read has seen it
        self.ended_at = None         # time.monotonic() of that read
        self.closed = False          # we closed it
        self.error = None            # what went wrong in the script
        self.done = threading.Event()  # the script is over
        self._taken = 0              # how much of `received` the script has consumed

    # ---- reading ----

    def _receive(self):
        """Takes what is there; b"" once the other side has ended or reset."""
        if self.ended:
            return b""
        try:
            data = self.socket.recv(_CHUNK_BYTES)
        except (ConnectionResetError, BrokenPipeError):
            self._end("reset")
            return b""
        if not data:
            self._end("eof")
        self.received_bytes += len(data)
        return data

    def _end(self, how):
        self.ended_at = time.monotonic()
        self.ended = how

    def read_until(self, mark):
        """Returns the bytes up to and with `mark`, which may also be a predicate over the unread bytes
        that tells how many of them to take (0: more)."""
        find = mark if callable(mark) else lambda data: data.find(mark) + len(mark) if mark in data else 0
        while True:
            unread = bytes(self.received[self._taken:])
            count = find(unread)
            if count:
                self._taken += count
                return unread[:count]
            data = self._receive()
            if not data:
                raise Ended(f"{self.ended} after {unread[-200:]!r}")
            self.received += data

    def read_exactly(self, count):
        return self.read_until(lambda data: count if len(data) >= count else 0) if count else b""

    def read_to_end(self):
        """Reads to the end, keeps it all, and returns the unread part."""
        while data := self._receive():
            self.received += data
        unread = bytes(self.received[self._taken:])
        self._taken = len(self.received)
        return unread

    def drain(self):
        """Reads to the end without keeping it; returns (count, sha256) of everything since the last read."""
        digest = hashlib.sha256(self.received[self._taken:])
        count = len(self.received) - self._taken
        while data := self._receive():
            digest.update(data)
            count += len(data)
        return count, digest.hexdigest()

    # ---- writing ----

    def send(self, *pieces, gap=0.0):
        """Sends each piece in a write of its own, `gap` seconds apart."""
        for number, piece in enumerate(pieces):
            if number and gap:
                time.sleep(gap)
            self.socket.sendall(piece)

    def fin(self):
        """Ends our sending side; the connection still receives."""
        try:
            self.socket.shutdown(socket.SHUT_WR)
        except OSError as error:
            if error.errno != errno.ENOTCONN:  # reset by the other side meanwhile
                raise

    def reset(self):
        """Ends the connection with RST."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close()

    def close(self):
        self.closed = True
        self.socket.close()

    # ---- for the test ----

    def wait_ended(self, seconds=2):
        """Waits until a read of the script has met the end; returns "eof" or "reset"."""
        wait_until(lambda: self.ended, seconds, f"upstream connection {self.index} sees an end")
        return self.ended

    def wait_received(self, count, seconds=2):
        wait_until(lambda: self.received_bytes >= count, seconds,
                   lambda: f"{count} bytes at the origin, there are {self.received_bytes}")


class Origin:
    """A listening socket and a thread per accepted connection.

    script   called with each Connection; it is closed when the script returns
    host     address to listen on; "" for all of both families
    netns    a harness.netns.NetNs to listen in
    """

    def __init__(self, script, host="127.0.0.1", port=0, backlog=1024, netns=None, receive_buffer=None):
        self.script = script
        self.connections = []
        make = lambda: self._listen(host, port, backlog, receive_buffer)  # noqa: E731
        self._listener = netns.run(make) if netns else make()
        self.host, self.port = self._listener.getsockname()[:2]
        self._threads = []
        self._closing = False
        self._acceptor = threading.Thread(target=self._accept, daemon=True)
        self._acceptor.start()

    @staticmethod
    def _listen(host, port, backlog, receive_buffer):
        family = socket.AF_INET6 if ":" in host or not host else socket.AF_INET
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if receive_buffer:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1 if host else 0)
        listener.bind((host, port))
        listener.listen(backlog)
        return listener

    @property
    def address(self):
        return self.host, self.port

    @property
    def authority(self):
        """HOST:PORT as it stands in a URI or an option."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def _accept(self):
        for index in itertools.count():
            try:
                sock, peer = self._listener.accept()
            except OSError:
                return
            if self._closing:
                sock.close()
                return
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            conn = Connection(sock, peer, index)
            self.connections.append(conn)
            thread = threading.Thread(target=self._serve, args=(conn,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, conn):
        try:
            self.script(conn)
        except (Ended, ConnectionError, TimeoutError):
            pass  # the proxy went; the test judges by what was received
        except OSError as error:
            if not (self._closing or conn.closed):
                conn.error = error
        except Exception as error:  # noqa: BLE001 -- shown when the origin closes
            conn.error = error
        finally:
            conn.close()
            conn.done.set()

    def wait_connection(self, index=0, seconds=2):
        """The connection with that number, once it was accepted."""
        wait_until(lambda: len(self.connections) > index, seconds,
                   lambda: f"connection {index} at the origin, {len(self.connections)} came")
        return self.connections[index]

    def stop_listening(self):
        """Closes the listening socket; connects are refused from now on."""
        self._closing = True
        try:
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes the acceptor
        except OSError:
            pass
        self._acceptor.join(limit(2))
        self._listener.close()

    def close(self):
        self.stop_listening()
        for conn in self.connections:
            if not conn.done.is_set():
                try:
                    conn.socket.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
        for thread in self._threads:
            thread.join(limit(2))

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.close()
        errors = [conn.error for conn in self.connections if conn.error]
        if errors and error is None:
            raise AssertionError("the origin's script failed") from errors[0]
        if errors:
            print(f"the origin's script failed as well: {errors}")
        return False


class BlackHole:
    """An address on loopback that never answers a SYN: a listening socket whose queue is full."""

    def __init__(self):
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=0)
        self.host, self.port = self._listener.getsockname()
        self._fillers = []
        for _ in range(8):
            filler = socket.socket()
            self._fillers.append(filler)
            filler.settimeout(0.2)
            try:
                filler.connect((self.host, self.port))
            except TimeoutError:
                return  # this one was not answered any more, nor will the next be
        self.close()
        raise RuntimeError("the queue of a listening socket does not fill")

    @property
    def address(self):
        return self.host, self.port

    def close(self):
        for sock in (self._listener, *self._fillers):
            sock.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def closed_port(host="127.0.0.1"):
    """A port where nothing listens."""
    with socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET) as listener:
        return listener.getsockname()[1]


# ---- ready scripts and payloads ----

def echo(conn):
    """Sends back what comes, and ends its side when the other one does."""
    while data := conn._receive():
        conn.send(data)
    if conn.ended == "eof":
        conn.fin()


def sink(conn):
    """Reads to the end and answers with the count and hash: `COUNT SHA256`, then FIN."""
    count, digest = conn.drain()
    conn.send(f"{count} {digest}".encode())
    conn.fin()


def silent(conn):
    """Reads and says nothing."""
    conn.read_to_end()


def source(count, seed=0):
    """A script that sends payload(count, seed) at once and FIN, then waits for the other side's end."""
    def script(conn):
        conn.send(payload(count, seed))
        conn.fin()
        conn.drain()
    return script


_payloads = {}


def payload(count, seed=0):
    """`count` bytes without a pattern, the same each time for the same seed."""
    key = count, seed
    if key not in _payloads:
        _payloads[key] = random.Random(f"{count}/{seed}").randbytes(count)
    return _payloads[key]


def sha256(data):
    return hashlib.sha256(data).hexdigest()


# ---- HTTP ----

class Request:
    """A request as it arrived. `fields` is a list of (name, value) as sent; `raw` the bytes of all of it."""

    def __init__(self, head, conn):
        lines = head[:-4].split(b"\r\n")
        self.line = lines[0]
        self.method, self.target, self.version = (part.decode("latin-1") for part in lines[0].split(b" ", 2))
        self.fields = []
        for line in lines[1:]:
            name, _, value = line.partition(b":")
            self.fields.append((name.decode("latin-1"), value.strip(b" \t").decode("latin-1")))
        self.head = head
        self.raw = head
        self.body = b""
        self.trailers = []
        self.whole = False     # True once all of the body has come
        self.conn = conn
        self.on_connection = conn.index

    def all(self, name):
        """The values of every field of that name, in order."""
        return [value for key, value in self.fields if key.lower() == name.lower()]

    def get(self, name):
        """The value of the one field of that name; None without it; fails when it is there twice."""
        values = self.all(name)
        assert len(values) <= 1, f"{name} is there {len(values)} times: {values}"
        return values[0] if values else None

    def __repr__(self):
        return f"<{self.raw[:300]!r}>"


class Close(bytes):
    """An answer after which the origin ends its sending side."""


class Reset(bytes):
    """An answer after which the origin resets the connection."""


def _read_body(conn, request):
    coding = ",".join(request.all("transfer-encoding")).lower()
    if coding:
        while True:
            line = conn.read_until(b"\r\n")
            request.raw += line
            size = int(re.match(rb"[0-9a-fA-F]+", line).group(), 16)
            if size == 0:
                break
            data = conn.read_exactly(size + 2)
            request.raw += data
            request.body += data[:-2]
        while (line := conn.read_until(b"\r\n")) != b"\r\n":
            request.raw += line
            name, _, value = line.partition(b":")
            request.trailers.append((name.decode("latin-1"), value.strip().decode("latin-1")))
        request.raw += line
    elif length := int(request.get("content-length") or 0):
        request.body = conn.read_exactly(length)
        request.raw += request.body


class HttpOrigin(Origin):
    """Answers each request on each connection by `answer(request)`, which returns the raw answer:

    bytes            sent, and the connection is kept
    list of bytes    sent with `gap` seconds between the pieces, kept
    Close(bytes)     sent, then FIN
    Reset(bytes)     sent, then RST
    None             nothing more: `answer` did what it wanted with request.conn, which is closed

    `requests` holds every request whose head has arrived, also where the body never came whole.
    `read_body=False` leaves the body to `answer`.
    """

    def __init__(self, answer, gap=0.1, read_body=True, **more):
        self.requests = []
        self._answer = answer
        self._gap = gap
        self._read_body = read_body
        super().__init__(self._http, **more)

    def _http(self, conn):
        while True:
            head = conn.read_until(b"\r\n\r\n")
            request = Request(head, conn)
            self.requests.append(request)
            if self._read_body:
                _read_body(conn, request)
                request.whole = True
            reply = self._answer(request)
            if reply is None:
                return
            conn.send(*(reply if isinstance(reply, list) else [reply]), gap=self._gap)
            if isinstance(reply, Reset):
                conn.reset()
                return
            if isinstance(reply, Close):
                conn.fin()
                conn.read_to_end()
                return

    def wait_requests(self, count=1, seconds=2):
        wait_until(lambda: len(self.requests) >= count, seconds,
                   lambda: f"{count} requests at the origin; there are: {self.requests}")
        return self.requests


def ok(body=b"", *fields, status="200 OK"):
    """A whole HTTP/1.1 answer with Content-Length; `fields` are more lines such as "X-A: 1"."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *fields]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body
