"""TCP's urgent data. Reads stop at its mark, and splice(2) does not get past it: whoever takes a short
read for an empty socket waits for ever, and whoever takes splice's 0 for an end cuts the stream."""

import socket
import threading

import pytest

from harness.origin import Origin, echo, payload
from harness.tunnels import SPLICE, front

BULK = payload(2_000_000)


def _send_with_urgent_byte(sock, before, after):
    sock.sendall(before)
    sock.send(b"!", socket.MSG_OOB)
    sock.sendall(after)


@pytest.mark.parametrize("splice", SPLICE)
@pytest.mark.parametrize("before", (b"begin", BULK), ids=("few", "bulk"))
def test_what_is_behind_an_urgent_byte_arrives(splice, before):
    """And the byte itself stays in its place in the stream (RFC 6093)."""
    whole = before + b"!" + b"behind"
    with Origin(echo) as origin, front("relay", origin, "--splice", splice) as via:
        for _ in range(5):
            with via.open() as client:
                sender = threading.Thread(target=_send_with_urgent_byte, args=(client.socket, before, b"behind"))
                sender.start()
                assert client.exactly(len(whole)) == whole
                sender.join()
                client.send(b"more")
                assert client.exactly(4) == b"more"


@pytest.mark.parametrize("splice", SPLICE)
def test_an_end_behind_urgent_data_does_not_cut_what_is_between(splice):
    """All of it, and the FIN, come before the proxy reads."""
    with Origin(echo) as origin, front("relay", origin, "--splice", splice) as via:
        for _ in range(20):
            with via.open() as client:
                _send_with_urgent_byte(client.socket, b"begin", b"behind")
                client.fin()
                assert client.to_end() == b"begin!behind"
                assert client.ended == "eof"


@pytest.mark.parametrize("splice", SPLICE)
def test_urgent_data_of_an_upstream_arrives(splice):
    def script(conn):
        _send_with_urgent_byte(conn.socket, BULK, b"behind")
        conn.fin()
        conn.read_to_end()

    with Origin(script) as origin, front("relay", origin, "--splice", splice) as via, via.open() as client:
        assert client.to_end() == BULK + b"!behind"
