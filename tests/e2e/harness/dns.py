"""A name server that the test controls, over UDP and TCP on one loopback port.

    with DnsServer() as dns:
        dns.add("o.example.test", "127.0.0.1")              # A, or AAAA for an IPv6 address
        with Proxy("http", *dns.options()) as proxy: ...
    dns.queries[0].name, .kind, .port, .id, .over

A name that was not added is NXDOMAIN. on(name, kind, behaviour) decides otherwise: a behaviour is a
function of the Query that returns an answer made by reply(), a list of them to be sent in order,
or None to stay silent. The ready ones (servfail, nxdomain, no_data, silent) are below.
"""

import contextlib
import socket
import struct
import threading
import time

from .timing import wait_until

A, SOA, AAAA = 1, 6, 28
NOERROR, SERVFAIL, NXDOMAIN, REFUSED = 0, 2, 3, 5
KINDS = {A: "A", AAAA: "AAAA"}


class Query:
    """One question as it arrived."""

    def __init__(self, packet, peer, over, server):
        self.packet, self.peer, self.over, self.server = packet, peer, over, server
        self.id, self.flags, count = struct.unpack("!HHH", packet[:6])
        assert count == 1, f"{count} questions"
        labels, at = [], 12
        while packet[at]:
            labels.append(packet[at + 1:at + 1 + packet[at]])
            at += 1 + packet[at]
        self.name_bytes = b".".join(labels)
        self.name = self.name_bytes.decode("latin-1")  # in the letter case of the query
        self.kind = struct.unpack("!H", packet[at + 1:at + 3])[0]
        self.question = packet[12:at + 5]
        self.port = peer[1]
        self.time = time.monotonic()

    def __repr__(self):
        return f"<{KINDS.get(self.kind, self.kind)} {self.name} over {self.over} from port {self.port}>"


def encode_name(name):
    return b"".join(bytes([len(label)]) + label for label in name.encode("latin-1").split(b".") if label) + b"\0"


def _record(owner, kind, ttl, data):
    return owner + struct.pack("!HHIH", kind, 1, ttl, len(data)) + data


def address_record(address, ttl=60, owner=b"\xc0\x0c"):
    """An A or AAAA record; its owner is the question's name unless another encoded name is given."""
    family, kind = (socket.AF_INET6, AAAA) if ":" in address else (socket.AF_INET, A)
    return _record(owner, kind, ttl, socket.inet_pton(family, address))


def soa_record(minimum, ttl=3600):
    return _record(encode_name("example.test"), SOA, ttl, encode_name("ns.example.test")
                   + encode_name("host.example.test") + struct.pack("!IIIII", 1, 3600, 600, 86400, minimum))


def reply(query, addresses=(), ttl=60, code=NOERROR, truncated=False, authority=(), id=None, question=None):  # noqa: A002
    """The answer packet to `query` with `addresses` of its kind."""
    answers = [address_record(a, ttl) for a in addresses if (AAAA if ":" in a else A) == query.kind]
    flags = 0x8180 | (0x0200 if truncated else 0) | code
    return (struct.pack("!HHHHHH", query.id if id is None else id, flags, 1, len(answers), len(authority), 0)
            + (question or query.question) + b"".join(answers) + b"".join(authority))


def servfail(query):
    return reply(query, code=SERVFAIL)


def refused(query):
    return reply(query, code=REFUSED)


def nxdomain(minimum=None):
    """NXDOMAIN with an SOA of that minimum, or without one."""
    return lambda query: reply(query, code=NXDOMAIN, authority=[] if minimum is None else [soa_record(minimum)])


def no_data(query):
    return reply(query)


def silent(query):
    """No answer at all."""


def delayed(seconds, behaviour):
    """The same, later. Other queries are answered meanwhile."""
    def later(query):
        time.sleep(seconds)
        return behaviour(query)
    return later


def in_turn(*behaviours):
    """The first behaviour for the first query of that name and kind, and so on; the last one goes on."""
    rest = list(behaviours)
    return lambda query: (rest.pop(0) if len(rest) > 1 else rest[0])(query)


class DnsServer:
    """tcp=False: connects over TCP are refused. `host` and `netns`: where it listens."""

    def __init__(self, host="127.0.0.1", tcp=True, netns=None):
        self.queries = []
        self.errors = []
        self.tcp_pause_seconds = None  # a gap after each byte of a TCP answer
        self._behaviours = {}
        self._addresses = {}
        self._closing = False
        make = lambda: self._listen(host, tcp)  # noqa: E731
        self._udp, self._tcp = netns.run(make) if netns else make()
        self.host, self.port = self._udp.getsockname()[:2]
        threading.Thread(target=self._serve_udp, daemon=True).start()
        if self._tcp:
            threading.Thread(target=self._serve_tcp, daemon=True).start()

    @staticmethod
    def _listen(host, tcp):
        """A UDP and a TCP socket on the same free port."""
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        for _ in range(50):
            udp = socket.socket(family, socket.SOCK_DGRAM)
            udp.bind((host, 0))
            if not tcp:
                return udp, None
            listener = socket.socket(family, socket.SOCK_STREAM)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listener.bind(udp.getsockname()[:2])
                listener.listen(64)
                return udp, listener
            except OSError:
                udp.close()
                listener.close()
        raise RuntimeError("no port that is free for UDP and TCP")

    def options(self):
        """The proxy's arguments that make it ask this server."""
        return "--set", f"dns_servers={self.host}:{self.port}"

    # ---- what it knows ----

    def add(self, name, *addresses, ttl=60):
        """The addresses of a name; a family without one has an empty answer."""
        self._addresses[name.lower()] = addresses, ttl

    def remove(self, name):
        self._addresses.pop(name.lower(), None)

    def on(self, name, behaviour, kind=None):
        """`behaviour` answers queries for that name, of one kind or of all."""
        for each in (kind,) if kind else (A, AAAA):
            self._behaviours[name.lower(), each] = behaviour

    def answer(self, query):
        """What the server says by its table."""
        addresses, ttl = self._addresses.get(query.name.lower(), (None, 60))
        return reply(query, addresses, ttl) if addresses is not None else reply(query, code=NXDOMAIN)

    # ---- what it was asked ----

    def queries_for(self, name, kind=None):
        return [q for q in self.queries if q.name.lower() == name.lower() and kind in (None, q.kind)]

    def wait_queries(self, count=1, seconds=2):
        wait_until(lambda: len(self.queries) >= count, seconds, lambda: f"{count} queries, got {self.queries}")
        return self.queries

    # ---- serving ----

    def _answers(self, query):
        self.queries.append(query)
        behaviour = self._behaviours.get((query.name.lower(), query.kind), self.answer)
        answer = behaviour(query)
        return answer if isinstance(answer, list) else [] if answer is None else [answer]

    def _serve_udp(self):
        while not self._closing:
            try:
                packet, peer = self._udp.recvfrom(4096)
            except OSError:
                return
            if self._closing:
                return
            threading.Thread(target=self._answer_udp, args=(packet, peer), daemon=True).start()

    def _answer_udp(self, packet, peer):
        try:
            for answer in self._answers(Query(packet, peer, "udp", self)):
                self._udp.sendto(answer, peer)
        except Exception as error:  # noqa: BLE001 -- raised when the server closes
            if not self._closing:
                self.errors.append(error)

    def _serve_tcp(self):
        while True:
            try:
                conn, peer = self._tcp.accept()
            except OSError:
                return
            threading.Thread(target=self._answer_tcp, args=(conn, peer), daemon=True).start()

    def _answer_tcp(self, conn, peer):
        with conn, contextlib.suppress(ConnectionError), conn.makefile("rb") as stream:
            while len(size := stream.read(2)) == 2:
                packet = stream.read(struct.unpack("!H", size)[0])
                for answer in self._answers(Query(packet, peer, "tcp", self)):
                    self._send_tcp(conn, struct.pack("!H", len(answer)) + answer)

    def _send_tcp(self, conn, data):
        if self.tcp_pause_seconds is None:
            conn.sendall(data)
            return
        conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in data:
            conn.sendall(bytes([byte]))
            time.sleep(self.tcp_pause_seconds)

    def close(self):
        self._closing = True
        for sock in filter(None, (self._udp, self._tcp)):
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
            sock.close()

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.close()
        if self.errors and error is None:
            raise AssertionError("the name server failed") from self.errors[0]
        return False
