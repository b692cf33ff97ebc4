"""Network namespaces with veth pairs, for clients and origins that are not on loopback.

    with TwoHosts() as net:                       # net.inside runs the proxy, net.outside is the world
        with Proxy("http", "--open", listen=f"{net.inside_v4}:0", netns=net.inside) as proxy:
            with Client(proxy.address, netns=net.outside) as client: ...

A socket belongs to the namespace it was made in, for as long as it lives, so only its making has to
happen inside: NetNs.run(function, ...) does that in a thread of its own.
"""

import ctypes
import itertools
import os
import subprocess
import threading

_CLONE_NEWNET = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)
_serial = itertools.count()


def ip(*args):
    """Runs ip(8); its complaint is the failure."""
    done = subprocess.run(["ip", *map(str, args)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"ip {' '.join(map(str, args))}: {done.stderr.strip()} (network namespaces need root; "
                           "tests/e2e/as_root.sh gives it to a test run)")


class NetNs:
    """One namespace with its loopback up."""

    def __init__(self):
        self.name = f"hr{os.getpid()}-{next(_serial)}"
        self.path = f"/run/netns/{self.name}"
        ip("netns", "add", self.name)
        ip("-n", self.name, "link", "set", "lo", "up")

    def ip(self, *args):
        ip("-n", self.name, *args)

    def sysctl(self, key, value):
        subprocess.run(["nsenter", f"--net={self.path}", "sysctl", "-qw", f"{key}={value}"], check=True)

    def run(self, function, *args, **kwargs):
        """Calls `function` in this namespace and returns what it returns."""
        outcome = {}

        def inside():
            try:
                with open(self.path, "rb") as handle:
                    if _libc.setns(handle.fileno(), _CLONE_NEWNET) != 0:
                        raise OSError(ctypes.get_errno(), f"setns {self.path}")
                outcome["value"] = function(*args, **kwargs)
            except BaseException as error:  # handed to the caller's thread
                outcome["error"] = error
        thread = threading.Thread(target=inside)
        thread.start()
        thread.join()
        if "error" in outcome:
            raise outcome["error"]
        return outcome["value"]

    def close(self):
        subprocess.run(["ip", "netns", "del", self.name], check=False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class TwoHosts:
    """A host for the proxy (`inside`) and one for everything else (`outside`), joined by a cable.

    The addresses are documentation ranges, thus neither private nor otherwise special; more can be
    added with add_outside().
    """

    inside_v4, outside_v4 = "192.0.2.1", "192.0.2.2"
    inside_v6, outside_v6 = "2001:db8::1", "2001:db8::2"

    def __init__(self):
        self.inside = NetNs()
        self.outside = None
        try:
            self.outside = NetNs()
            ip("link", "add", "hr0", "netns", self.inside.name, "type", "veth", "peer", "name", "hr0",
               "netns", self.outside.name)
            for ns, v4, v6 in ((self.inside, self.inside_v4, self.inside_v6),
                               (self.outside, self.outside_v4, self.outside_v6)):
                ns.ip("addr", "add", f"{v4}/24", "dev", "hr0")
                ns.ip("addr", "add", f"{v6}/64", "dev", "hr0", "nodad")
                ns.ip("link", "set", "hr0", "up")
        except BaseException:
            self.close()
            raise

    def add_outside(self, address):
        """One more address of the outside host, that the inside host has a route to."""
        bits = 128 if ":" in address else 32
        self.outside.ip("addr", "add", f"{address}/{bits}", "dev", "hr0", *(["nodad"] if bits == 128 else []))
        self.inside.ip("route", "add", f"{address}/{bits}", "dev", "hr0")

    def add_black_hole(self, address):
        """An address whose packets leave and are never answered: the far end drops them."""
        bits = 128 if ":" in address else 32
        self.inside.ip("route", "add", f"{address}/{bits}", "dev", "hr0")
        self.inside.ip("neigh", "add", address, "lladdr", "02:00:00:00:00:01", "dev", "hr0", "nud", "permanent")

    def add_unreachable(self, address, kind="unreachable"):
        """An address whose connect fails at once: EHOSTUNREACH, or ENETUNREACH where there is no route."""
        self.inside.ip("route", "add", kind, address)

    def close(self):
        for ns in (self.inside, self.outside):
            if ns is not None:
                ns.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
