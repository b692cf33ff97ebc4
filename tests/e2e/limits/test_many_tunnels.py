"""9 500 tunnels held at once, 1 000 of them exchanging: as many as a limit of 20 000 descriptors allows."""

import contextlib
import resource

import pytest

from harness.swarm import Crowd, EchoOrigin
from harness.timing import limit, wait_until
from harness.tunnels import front

TUNNELS = 9500
BUSY = 1000
EXCHANGE_SECONDS = 10
MESSAGE_BYTES = 1024
PROCESSES = 2
# An address for each front: towards one of them the ports of all three would not suffice.
ORIGINS = {"relay": "127.0.1.1", "connect": "127.0.1.2", "socks5": "127.0.1.3"}


def _tunnels_allowed():
    """Two descriptors each for the proxy, and some for itself."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = (hard - 200) // 2
    assert allowed >= TUNNELS, f"the limit of {hard} descriptors is too low for {TUNNELS} tunnels (ulimit -Hn)"
    return TUNNELS


@pytest.mark.parametrize("name", ("relay", "connect", "socks5"))
def test_9500_tunnels_are_held_while_1000_exchange(name):
    count = _tunnels_allowed()
    share, busy_share = count // PROCESSES, BUSY // PROCESSES
    with EchoOrigin(ORIGINS[name]) as origin, front(name, origin.address) as via, contextlib.ExitStack() as stack:
        with via.proxy.keeps_base_fds(seconds=10):
            crowds = [stack.enter_context(Crowd(via)) for _ in range(PROCESSES)]
            for index, crowd in enumerate(crowds):
                crowd.start("open", share, f"127.0.0.{index + 2}")  # each has source ports of its own
            assert sum(crowd.result() for crowd in crowds) == count
            wait_until(lambda: origin.open_connections() == count, 10, "all at the origin")
            kinds = via.proxy.fd_kinds()
            assert kinds["socket"] >= 2 * count

            for crowd in crowds:
                crowd.start("exchange", 0, busy_share, EXCHANGE_SECONDS, MESSAGE_BYTES)
            results = [crowd.result() for crowd in crowds]
            failures = [failure for _, some in results for failure in some]
            exchanges = sum(number for number, _ in results)
            print(f"{name}: {exchanges} exchanges, {via.proxy.rss_kib()} KiB resident")
            assert not failures, f"{len(failures)} failed: {failures[:5]}"
            assert exchanges >= BUSY

            # None of the idle ones was lost, and each still carries bytes.
            assert sum(crowd.call("all_alive") for crowd in crowds) == count
            for crowd in crowds:
                crowd.start("exchange", 0, share, 0, 32)
            results = [crowd.result() for crowd in crowds]
            assert [some for _, some in results] == [[]] * PROCESSES
            assert sum(number for number, _ in results) == count
            for crowd in crowds:
                crowd.call("close_all")
            wait_until(lambda: origin.open_connections() == 0, limit(10), "the origin's connections end")
