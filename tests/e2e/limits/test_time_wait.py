"""Ports of the proxy's outgoing side."""

import threading

from harness import client as clients
from harness.client import Client
from harness.origin import HttpOrigin, Origin, echo, ok
from harness.proxy import Proxy
from harness.timing import wait_until

ROUNDS = 8
AT_ONCE = 150
PORTS = 400


def _time_wait(net, port):
    """TIME_WAIT sockets of the proxy's host towards `port`."""
    def read():
        # /proc/thread-self: the namespace of the thread that run() makes.
        with open("/proc/thread-self/net/tcp", encoding="ascii") as file:
            return [line.split() for line in list(file)[1:]]
    return sum(1 for fields in net.inside.run(read) if fields[3] == "06" and fields[2].endswith(f":{port:04X}"))


def test_B154_time_wait_on_the_proxys_side(two_hosts):
    """Idle pooled connections were closed with FIN first, so that the proxy's own ports stayed in TIME_WAIT.

    1 200 pooled connections idle out within a minute, with 400 ports to dial from.
    """
    net = two_hosts
    net.inside.sysctl("net.ipv4.ip_local_port_range", f"40000 {40000 + PORTS - 1}")
    barrier = threading.Barrier(AT_ONCE)

    def answer(request):
        barrier.wait(20)  # all at once, so that each has a connection of its own
        return ok(b"x")

    with HttpOrigin(answer, host=net.outside_v4, netns=net.outside) as origin:
        with Proxy("http", "--open", "--set", "keepalive_timeout=1s", listen=f"{net.inside_v4}:39999",
                   netns=net.inside) as proxy:
            for number in range(ROUNDS):
                crowd = [Client(proxy.address, netns=net.outside) for _ in range(AT_ONCE)]
                for client in crowd:
                    client.send(f"GET http://{origin.authority}/ HTTP/1.1\r\nHost: {origin.authority}\r\n\r\n")
                assert [client.response().status for client in crowd] == [200] * AT_ONCE, f"round {number}"
                for client in crowd:
                    client.close()
                wait_until(lambda: all(c.ended for c in origin.connections), 6, "the pool idles out")
                assert _time_wait(net, origin.port) < AT_ONCE / 3, f"round {number}"
            assert proxy.running


def test_out_of_ports_is_answered_and_passes(two_hosts):
    """No local port left towards a destination: 503 or SOCKS 01, and others go on."""
    net = two_hosts
    net.inside.sysctl("net.ipv4.ip_local_port_range", "40000 40019")
    with Origin(echo, host=net.outside_v4, netns=net.outside) as origin:
        with Proxy("mixed", "--open", listen=f"{net.inside_v4}:39999", netns=net.inside) as proxy:
            held = []
            for _ in range(20):
                client = Client(proxy.address, netns=net.outside)
                if clients.socks5(client, *origin.address).code != 0:
                    client.close()
                    break
                held.append(client)
            assert 10 <= len(held) <= 20
            with Client(proxy.address, netns=net.outside) as client:
                assert clients.socks5(client, *origin.address).code == 1
                client.expect_end()
            with Client(proxy.address, netns=net.outside) as client:
                assert clients.http_connect(client, *origin.address).status == 503
            with Origin(echo, host=net.outside_v4, netns=net.outside) as other:
                with Client(proxy.address, netns=net.outside) as client:
                    assert clients.socks5(client, *other.address).code == 0
            for client in held:
                client.send(b"x")
                assert client.exactly(1) == b"x"
            held.pop().reset()

            def works():
                with Client(proxy.address, netns=net.outside) as client:
                    return clients.socks5(client, *origin.address).code == 0
            wait_until(works, 3, "works again when a port is free")
            for client in held:
                client.close()
