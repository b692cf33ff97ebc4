"""Pipes under the kernel's per-user limit (fs.pipe-user-pages-soft)."""

import contextlib
import hashlib
import os
import pathlib
import selectors
import socket
import threading
import time

import pytest

from harness.netns import NetNs
from harness.origin import payload, sha256
from harness.timing import limit, wait_until
from harness.tunnels import front

TUNNELS = 2000
BYTES = 400_000
STALLED_BUFFER_BYTES = 4096
# Of the sockets: small, so that what a stalled reader leaves has to stand in the proxy's pipe.
SOCKET_BUFFERS = "4096 16384 65536"


class Sources:
    """An origin that pushes BYTES into each of its connections and then ends, from one thread."""

    def __init__(self, netns):
        self._listener = netns.run(socket.create_server, ("127.0.0.1", 0), backlog=4096)
        self.address = self._listener.getsockname()
        self.accepted = 0
        self.finished = 0
        self._data = payload(BYTES)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        self._listener.setblocking(False)
        selector = selectors.EpollSelector()
        selector.register(self._listener, selectors.EVENT_READ)
        sent = {}
        while not self._stop.is_set():
            for key, _ in selector.select(0.2):
                sock = key.fileobj
                if sock is self._listener:
                    while (accepted := self._accept()) is not None:
                        sent[accepted] = 0
                        selector.register(accepted, selectors.EVENT_WRITE)
                elif self._push(sock, sent):
                    selector.unregister(sock)
        for sock in sent:
            sock.close()

    def _accept(self):
        try:
            sock, _ = self._listener.accept()
        except BlockingIOError:
            return None
        sock.setblocking(False)
        self.accepted += 1
        return sock

    def _push(self, sock, sent):
        """True once all is sent and the end too."""
        try:
            while sent[sock] < BYTES:
                sent[sock] += sock.send(self._data[sent[sock]:sent[sock] + 65536])
        except BlockingIOError:
            return False
        except OSError:
            return True
        sock.shutdown(socket.SHUT_WR)
        self.finished += 1
        return True

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join(limit(5))
        self._listener.close()


def _read_all(clients):
    """Reads every client to its end at once; returns {hash: number of clients}."""
    selector = selectors.EpollSelector()
    digests = {}
    for client in clients:
        client.socket.setblocking(False)
        digests[client.socket] = hashlib.sha256(client.unread())
        selector.register(client.socket, selectors.EVENT_READ)
    tally, left = {}, len(clients)
    last_progress = time.monotonic()
    while left:
        events = selector.select(1)
        if events:
            last_progress = time.monotonic()
        assert time.monotonic() - last_progress < limit(20), f"{left} of {len(clients)} stalled"
        for key, _ in events:
            data = key.fileobj.recv(262144)
            digests[key.fileobj].update(data)
            if not data:
                selector.unregister(key.fileobj)
                left -= 1
                name = digests[key.fileobj].hexdigest()
                tally[name] = tally.get(name, 0) + 1
    return tally


@pytest.mark.parametrize("splice", ("always", "auto"))
def test_B023_small_pipes_under_the_per_user_limit(splice):
    """Past the soft page limit new pipes get one or two pages and growing them fails; code that expected
    64 KiB stalled or failed. The proxy runs as an ordinary user, for whom the limit holds."""
    soft_pages = int(pathlib.Path("/proc/sys/fs/pipe-user-pages-soft").read_text(encoding="ascii"))
    assert 0 < soft_pages < TUNNELS * 16, "fs.pipe-user-pages-soft is not at its default, nothing would be shown"
    user = "nobody" if os.geteuid() == 0 else None
    with contextlib.ExitStack() as stack:
        netns = stack.enter_context(NetNs())
        netns.sysctl("net.ipv4.tcp_rmem", SOCKET_BUFFERS)
        netns.sysctl("net.ipv4.tcp_wmem", SOCKET_BUFFERS)
        origin = stack.enter_context(Sources(netns))
        via = stack.enter_context(front("relay", origin.address, "--splice", splice, user=user, netns=netns))
        with via.proxy.keeps_base_fds(seconds=5):
            clients = [via.open(receive_buffer=STALLED_BUFFER_BYTES, netns=netns, timeout=30)
                       for _ in range(TUNNELS)]
            try:
                wait_until(lambda: origin.accepted == TUNNELS, 10, lambda: f"{origin.accepted} at the origin")
                # All are stalled now, most with bytes in a pipe; the proxy is at rest.
                via.proxy.assert_cpu_quiet(2)
                assert origin.finished == 0, "the readers do not stall"
                assert _read_all(clients) == {sha256(payload(BYTES)): TUNNELS}
            finally:
                for client in clients:
                    client.close()
