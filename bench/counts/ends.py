"""The ends of a counted connection: an origin, a client that holds connections, and one that fetches much.

    ends.py origin HOST:PORT                    answers GET /N with N bytes, any number of times; port 0: a free one
    ends.py hold KIND PROXY ORIGIN SOURCE       for each N on a line of standard input: holds N connections, says so
    ends.py fetch KIND PROXY ORIGIN BYTES N     fetches BYTES from the origin, N times, a new connection each

KIND says what the connections are: relay, connect, socks5 or http. Made for idle-memory and syscalls, which start
them; each costs so little that the proxy between them is what works.
"""

import os
import resource
import selectors
import socket
import sys

HEAD_END = b"\r\n\r\n"
# A client opens so many at a time: the proxy's set-ups overlap, as they do with many clients.
BATCH = 64
EXCHANGE_BYTES = 1024
TIMEOUT_S = 30.0
FILE_BYTES = 4 << 20        # bodies are sent out of a file of so many


def address_of(text):
    host, _, port = text.rpartition(":")
    return host, int(port)


def use_all_descriptors():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


class Answer:
    """One connection of the origin, and what is still to be sent on it."""

    def __init__(self, connection):
        self.connection = connection
        self.asked = b""
        self.head = b""
        self.sent_bytes = self.body_bytes = 0

    def receive(self):
        """False when the client is gone."""
        try:
            data = self.connection.recv(65536)
        except BlockingIOError:
            return True
        except OSError:
            return False
        self.asked += data
        return bool(data)

    def take_request(self):
        """True when a request has come and its answer has to be sent."""
        head, found, rest = self.asked.partition(HEAD_END)
        if not found:
            return False
        self.asked = rest
        path = head.split(b" ", 2)[1]
        self.body_bytes = int(path.rpartition(b"/")[2])
        self.sent_bytes = 0
        self.head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % self.body_bytes
        return True

    def send(self, file):
        """True when all has been sent. Bodies come out of the file without being copied."""
        try:
            if self.head:
                self.head = self.head[self.connection.send(self.head, socket.MSG_MORE):]
            while self.sent_bytes < self.body_bytes:
                rest = self.body_bytes - self.sent_bytes
                self.sent_bytes += os.sendfile(self.connection.fileno(), file, 0, min(rest, FILE_BYTES))
            return True
        except BlockingIOError:
            return False


def serve(where):
    use_all_descriptors()
    file = os.memfd_create("body")
    os.write(file, bytes(FILE_BYTES))
    listener = socket.create_server(address_of(where), backlog=4096)
    listener.setblocking(False)
    print("listening", listener.getsockname()[1], flush=True)
    with selectors.DefaultSelector() as selector:
        selector.register(listener, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.data is None:
                    accept_all(listener, selector)
                else:
                    advance(key.data, selector, file)


def accept_all(listener, selector):
    while True:
        try:
            connection, _ = listener.accept()
        except BlockingIOError:
            return
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        selector.register(connection, selectors.EVENT_READ, Answer(connection))


def advance(answer, selector, file):
    sending = answer.head or answer.sent_bytes < answer.body_bytes
    try:
        if not sending and not answer.receive():
            raise ConnectionError
        while sending or answer.take_request():
            if not answer.send(file):
                selector.modify(answer.connection, selectors.EVENT_WRITE, answer)
                return
            sending = False
    except OSError:
        selector.unregister(answer.connection)
        answer.connection.close()
        return
    selector.modify(answer.connection, selectors.EVENT_READ, answer)


def receive_until(connection, what):
    received = b""
    while what not in received:
        data = connection.recv(4096)
        if not data:
            raise ConnectionError(f"ended after {received!r}")
        received += data
    return received


def receive_exactly(connection, size):
    received = b""
    while len(received) < size:
        data = connection.recv(size - len(received))
        if not data:
            raise ConnectionError(f"ended after {received!r}")
        received += data
    return received


def expect(received, beginning):
    if not received.startswith(beginning):
        raise ConnectionError(f"refused: {received!r}")


class Kind:
    """How a connection of one kind is made, in steps that a whole batch takes together."""

    def __init__(self, name, origin):
        host, port = origin
        self.name = name
        self.authority = f"{host}:{port}".encode()
        self.socks_request = b"\x05\x01\x00\x01" + socket.inet_aton(host) + port.to_bytes(2, "big")

    def steps(self):
        """[(what to send, function that reads the answer)]"""
        if self.name == "connect":
            return [(b"CONNECT %s HTTP/1.1\r\nHost: %s%s" % (self.authority, self.authority, HEAD_END),
                     lambda c: expect(receive_until(c, HEAD_END), b"HTTP/1.1 200"))]
        if self.name == "socks5":
            return [(b"\x05\x01\x00", lambda c: expect(receive_exactly(c, 2), b"\x05\x00")),
                    (self.socks_request, lambda c: expect(receive_exactly(c, 10), b"\x05\x00"))]
        return []

    def request(self, size):
        prefix = b"http://" + self.authority if self.name == "http" else b""
        return b"GET %s/%d HTTP/1.1\r\nHost: %s%s" % (prefix, size, self.authority, HEAD_END)


def receive_answer(connection):
    received = receive_until(connection, HEAD_END)
    expect(received, b"HTTP/1.1 200")
    missing = EXCHANGE_BYTES - len(received.partition(HEAD_END)[2])
    receive_exactly(connection, missing)


def open_batch(kind, proxy, source, count):
    batch = [socket.create_connection(proxy, TIMEOUT_S, (source, 0)) for _ in range(count)]
    for request, read in [*kind.steps(), (kind.request(EXCHANGE_BYTES), receive_answer)]:
        for connection in batch:
            connection.sendall(request)
        for connection in batch:
            read(connection)
    return batch


def hold(kind_name, proxy, origin, source):
    """Every connection carries one exchange and then rests."""
    use_all_descriptors()
    kind = Kind(kind_name, address_of(origin))
    held = []
    for line in sys.stdin:
        while len(held) < int(line):
            held += open_batch(kind, address_of(proxy), source, min(BATCH, int(line) - len(held)))
        print(len(held), flush=True)


def fetch(kind_name, proxy, origin, size, count):
    kind = Kind(kind_name, address_of(origin))
    buffer = bytearray(1 << 20)
    for _ in range(int(count)):
        with socket.create_connection(address_of(proxy), TIMEOUT_S) as connection:
            for request, read in kind.steps():
                connection.sendall(request)
                read(connection)
            connection.sendall(kind.request(int(size)))
            head, _, body = receive_until(connection, HEAD_END).partition(HEAD_END)
            expect(head, b"HTTP/1.1 200")
            missing = int(size) - len(body)
            while missing > 0:
                # MSG_TRUNC: counted and thrown away, not copied.
                got = connection.recv_into(buffer, min(len(buffer), missing), socket.MSG_TRUNC)
                if got == 0:
                    raise ConnectionError(f"cut, {missing} bytes are missing")
                missing -= got
    print("fetched", count, flush=True)


ROLES = {"origin": serve, "hold": hold, "fetch": fetch}

if __name__ == "__main__":
    try:
        ROLES[sys.argv[1]](*sys.argv[2:])
    except (KeyError, IndexError, TypeError):
        sys.exit(__doc__)
    except (OSError, KeyboardInterrupt) as fault:
        sys.exit(f"ends.py {sys.argv[1]}: {fault}")
