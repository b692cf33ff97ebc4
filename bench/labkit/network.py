"""Three network namespaces in a row: client 10.0.1.2 - 10.0.1.1 proxy 10.0.2.1 - 10.0.2.2 origin.

Each pair is joined by veth with an MTU of 1500. What a side receives is steered to its own CPUs (RPS), so the
kernel's network work for a side is done, and counted, there. The client's link can be an emulated one.
Namespaces live for one run only: no run inherits another's TIME_WAIT sockets or learnt TCP metrics.
"""

import os
import subprocess
from pathlib import Path

from .cpus import ROLES, hex_mask
from .errors import LabError
from .recipe import Address

CLIENT = "10.0.1.2"
PROXY_OUTSIDE = "10.0.1.1"      # where clients reach the proxy
PROXY_INSIDE = "10.0.2.1"
ORIGIN = "10.0.2.2"
MTU_BYTES = 1500
PROXY = Address(PROXY_OUTSIDE, 8080)

NETNS_DIRECTORY = Path("/run/netns")

# What distributions ship. bbr, which some kernels start with, sends by timers: on links without delay they cost more
# than a proxy does, and slow all proxies to the same pace.
CONGESTION_CONTROL = "cubic"
# Namespaces may only use what the machine allows to everybody.
ALLOWED_CONGESTION_CONTROL = "net/ipv4/tcp_allowed_congestion_control"

# Of each namespace; they vanish with it.
SYSCTLS = {
    "net/ipv4/ip_local_port_range": "1024 65535",
    "net/ipv4/tcp_tw_reuse": "1",
    "net/ipv4/tcp_max_tw_buckets": "2000000",
    "net/ipv4/tcp_max_syn_backlog": "65535",
    "net/ipv4/tcp_no_metrics_save": "1",
    "net/ipv4/tcp_syncookies": "0",     # a queue that overflows shall be seen, not papered over
    "net/core/somaxconn": "65535",
    "net/ipv4/tcp_congestion_control": CONGESTION_CONTROL,
}

# Of the whole machine, raised for the session and put back; a value that is higher already stays.
MACHINE_SYSCTLS = {
    "net/core/netdev_max_backlog": 65536,   # RPS queues per CPU; the default of 1000 drops packets
    "fs/file-max": 1_000_000,
    "kernel/threads-max": 100_000,          # for proxies with a thread for each connection
    "kernel/pid_max": 131_072,
    "vm/max_map_count": 262_144,
}


def ip(*words):
    done = subprocess.run(["ip", *words], capture_output=True, text=True)
    if done.returncode != 0:
        raise LabError(f"ip {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def in_namespace(namespace, *argv):
    done = subprocess.run(["ip", "netns", "exec", namespace, *argv], capture_output=True, text=True)
    if done.returncode != 0:
        raise LabError(f"{' '.join(argv)} in {namespace}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


class Network:
    def __init__(self, tag):
        self.tag = tag

    def namespace(self, role):
        return f"{self.tag}-{role}"

    def create(self, placement, emulated_client_link=False):
        """All but the client's link, where that is an emulated one; the caller makes it and then calls steer()."""
        self.remove()
        for role in ROLES:
            ip("netns", "add", self.namespace(role))
            settings = "\n".join(f"echo '{value}' > /proc/sys/{key}" for key, value in SYSCTLS.items())
            in_namespace(self.namespace(role), "sh", "-ec", settings + "\nip link set lo up")
        if not emulated_client_link:
            self._join("cli", "c0", CLIENT, "prx", "c1", PROXY_OUTSIDE)
            self.steer("cli", "c0", placement.cli)
            self.steer("prx", "c1", placement.prx)
        self._join("srv", "s0", ORIGIN, "prx", "s1", PROXY_INSIDE)
        self.steer("srv", "s0", placement.srv)
        self.steer("prx", "s1", placement.prx)

    def _join(self, role_a, name_a, address_a, role_b, name_b, address_b):
        a, b = self.namespace(role_a), self.namespace(role_b)
        ip("link", "add", name_a, "netns", a, "mtu", str(MTU_BYTES), "type", "veth",
           "peer", "name", name_b, "netns", b, "mtu", str(MTU_BYTES))
        for namespace, name, address in ((a, name_a, address_a), (b, name_b, address_b)):
            ip("-n", namespace, "address", "add", f"{address}/24", "dev", name)
            ip("-n", namespace, "link", "set", name, "up")

    def steer(self, role, device, cpus):
        """Receive packet steering: what the device receives is worked on by those CPUs."""
        in_namespace(self.namespace(role), "sh", "-ec",
                     f"for q in /sys/class/net/{device}/queues/rx-*; do echo {hex_mask(cpus)} > $q/rps_cpus; done")

    def route_through(self):
        """The proxy's side as a mere router, for the runs without a proxy."""
        in_namespace(self.namespace("prx"), "sh", "-ec", "echo 1 > /proc/sys/net/ipv4/ip_forward")
        ip("-n", self.namespace("cli"), "route", "add", "10.0.2.0/24", "via", PROXY_OUTSIDE)
        ip("-n", self.namespace("srv"), "route", "add", "10.0.1.0/24", "via", PROXY_INSIDE)

    def remove(self):
        for role in ROLES:
            if (NETNS_DIRECTORY / self.namespace(role)).exists():
                ip("netns", "del", self.namespace(role))

    def leftovers(self):
        return [self.namespace(role) for role in ROLES if (NETNS_DIRECTORY / self.namespace(role)).exists()]

    def pids(self):
        """Processes inside, however they came there: those of a lab that crashed."""
        found = []
        for namespace in self.leftovers():
            done = subprocess.run(["ip", "netns", "pids", namespace], capture_output=True, text=True)
            found += [int(pid) for pid in done.stdout.split()]
        return found


def read_sysctl(key):
    try:
        return Path("/proc/sys", key).read_text().strip()
    except OSError:
        return None


def write_sysctl(key, value):
    try:
        Path("/proc/sys", key).write_text(f"{value}\n")
    except OSError:     # a container may not: the provenance has the value that was in force
        return False
    return True


def is_root():
    return os.geteuid() == 0
