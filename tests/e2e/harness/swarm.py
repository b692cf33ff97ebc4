"""Thousands of connections from few processes: an echo origin and a crowd of clients, each one event
loop in a process of its own, steered over a pipe.

A process may be limited to some 20 000 descriptors, so a large crowd is several of these.
"""

import hashlib
import multiprocessing
import resource
import selectors
import socket
import time

from . import client as clients
from .timing import limit

# fork() from a threaded test process is asking for trouble.
_context = multiprocessing.get_context("spawn")


def _use_all_descriptors():
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


class _Process:
    """A child process that obeys one command at a time: a method name of `worker` and its arguments."""

    def __init__(self, worker, *args):
        self._pipe, theirs = _context.Pipe()
        self._process = _context.Process(target=_obey, args=(theirs, worker, args), daemon=True)
        self._process.start()
        theirs.close()
        self.start("ready")
        self.result()

    def start(self, command, *args):
        self._pipe.send((command, args))

    def result(self, seconds=120):
        if not self._pipe.poll(limit(seconds)):
            raise AssertionError(f"no answer within {limit(seconds):g} s")
        kind, value = self._pipe.recv()
        assert kind == "ok", value
        return value

    def call(self, command, *args):
        self.start(command, *args)
        return self.result()

    def close(self):
        self._pipe.close()
        self._process.join(limit(5))
        self._process.kill()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def _obey(pipe, worker, args):
    _use_all_descriptors()
    subject = worker(*args)
    while True:
        try:
            command, more = pipe.recv()
        except EOFError:
            return
        try:
            value = None if command == "ready" else getattr(subject, command)(*more)
            pipe.send(("ok", value))
        except Exception as error:  # noqa: BLE001 -- raised in the test's process
            pipe.send(("failed", f"{type(error).__name__}: {error}"))


class _EchoOrigin:
    """Echoes every connection from a thread; commands only look."""

    def __init__(self, host):
        import threading
        self._listener = socket.create_server((host, 0), backlog=4096)
        self._listener.setblocking(False)
        self._selector = selectors.EpollSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._open = 0
        threading.Thread(target=self._run, daemon=True).start()

    def address(self):
        return self._listener.getsockname()

    def open_connections(self):
        return self._open

    def _run(self):
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is self._listener:
                    self._accept()
                else:
                    self._echo(key.fileobj)

    def _accept(self):
        for _ in range(256):
            try:
                sock, _ = self._listener.accept()
            except BlockingIOError:
                return
            self._open += 1
            self._selector.register(sock, selectors.EVENT_READ)

    def _echo(self, sock):
        try:
            data = sock.recv(65536)
            if data:
                sock.sendall(data)
                return
        except OSError:
            pass
        self._open -= 1
        self._selector.unregister(sock)
        sock.close()


class EchoOrigin(_Process):
    """An echo origin for very many connections."""

    def __init__(self, host="127.0.0.1"):
        super().__init__(_EchoOrigin, host)
        self.host, self.port = self.call("address")

    @property
    def address(self):
        return self.host, self.port

    def open_connections(self):
        return self.call("open_connections")


class _Crowd:
    """Blocking sockets, opened in order; exchanges by an event loop."""

    def __init__(self, address, how, host, port):
        self._address, self._how, self._host, self._port = address, how, host, port
        self._clients = []

    def open(self, count, source):
        from .tunnels import ask
        for _ in range(count):
            client = clients.Client(self._address, source=(source, 0) if source else None, timeout=30)
            self._clients.append(client)
            ask(client, self._how, self._host, self._port)
        return len(self._clients)

    def exchange(self, first, count, seconds, size):
        """Clients first..first+count send a message and wait for its echo, again and again for `seconds`.

        Returns (exchanges, failures as text).
        """
        message = hashlib.sha256(str(first).encode()).digest() * (size // 32)
        failures, exchanges = [], 0
        selector = selectors.EpollSelector()
        got = {}
        for client in self._clients[first:first + count]:
            client.socket.setblocking(False)
            selector.register(client.socket, selectors.EVENT_READ)
            got[client.socket] = b""
            client.socket.send(message)
        deadline = time.monotonic() + seconds
        last_call = deadline + limit(20)
        while got and time.monotonic() < last_call:
            for key, _ in selector.select(0.5):
                sock = key.fileobj
                try:
                    data = sock.recv(65536)
                except OSError as error:
                    data, failure = b"", repr(error)
                else:
                    failure = "ended"
                if not data:
                    failures.append(failure)
                    selector.unregister(sock)
                    del got[sock]
                    continue
                got[sock] += data
                if len(got[sock]) < len(message):
                    continue
                if got[sock] != message:
                    failures.append("wrong bytes")
                exchanges += 1
                got[sock] = b""
                if time.monotonic() < deadline:
                    sock.send(message)
                else:
                    selector.unregister(sock)
                    del got[sock]
        failures += ["no echo"] * len(got)
        return exchanges, failures

    def all_alive(self):
        """How many of the clients still have their connection."""
        alive = 0
        for client in self._clients:
            client.socket.setblocking(False)
            try:
                alive += client.socket.recv(1, socket.MSG_PEEK) != b""
            except BlockingIOError:
                alive += 1
            except OSError:
                pass
        return alive

    def close_all(self):
        for client in self._clients:
            client.close()
        self._clients = []


class Crowd(_Process):
    """Very many clients of one proxy: call("open", count, source address), call("exchange", ...)."""

    def __init__(self, via):
        super().__init__(_Crowd, via.proxy.address, via.how, via.host, via.port)
