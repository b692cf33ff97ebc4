"""The client's link with a delay, loss and a rate: netem where the kernel has it, else headrace-link.

Both take the same words (`delay 5ms loss 0.5%`) and work each way in the client's namespace, on the client's
CPUs; the link from the proxy to the origin stays as it is. Segmentation offload is off, so that what is lost
or delayed is a packet of 1500 bytes and not a burst of 64 KB.
"""

import os
import selectors
import subprocess
import time
from dataclasses import dataclass

from . import network
from .errors import LabError

QUEUE_PACKETS = 10_000      # netem's own default of 1000 is less than a mix has under way


@dataclass(frozen=True)
class LinkSpec:
    words: str = ""             # netem's, for each direction
    flow_rate: str = ""         # of each connection, tc's units: 20mbit

    @property
    def emulated(self):
        return bool(self.words or self.flow_rate)

    @property
    def all_words(self):
        return self.words if "limit" in self.words.split() else f"{self.words} limit {QUEUE_PACKETS}".strip()

    def __str__(self):
        return ", ".join(filter(None, [self.words, self.flow_rate and f"{self.flow_rate} per connection"])) or "none"


def kernel_has(qdisc, namespace):
    """Tried on the loopback of a namespace that is thrown away afterwards."""
    words = {"netem": ["netem", "delay", "1ms"], "fq": ["fq", "maxrate", "1mbit"]}[qdisc]
    done = subprocess.run(["tc", "-n", namespace, "qdisc", "add", "dev", "lo", "root", *words], capture_output=True)
    if done.returncode == 0:
        subprocess.run(["tc", "-n", namespace, "qdisc", "del", "dev", "lo", "root"], capture_output=True)
    return done.returncode == 0


def choose(spec, tag):
    """'netem' or 'headrace-link': what this kernel lets us use for the whole session."""
    probe = f"{tag}-probe"
    subprocess.run(["ip", "netns", "del", probe], capture_output=True)
    network.ip("netns", "add", probe)
    try:
        needed = [qdisc for qdisc, wanted in (("netem", spec.words), ("fq", spec.flow_rate)) if wanted]
        return "netem" if all(kernel_has(qdisc, probe) for qdisc in needed) else "headrace-link"
    finally:
        network.ip("netns", "del", probe)


def netem_commands(spec, namespace):
    """The words for tc. What comes in is turned into what an ifb sends, for only sending can be shaped."""
    commands = [
        ["ip", "-n", namespace, "link", "add", "ifb0", "type", "ifb"],
        ["ip", "-n", namespace, "link", "set", "ifb0", "up"],
        ["tc", "-n", namespace, "qdisc", "add", "dev", "c0", "handle", "ffff:", "ingress"],
        ["tc", "-n", namespace, "filter", "add", "dev", "c0", "parent", "ffff:", "protocol", "all", "matchall",
         "action", "mirred", "egress", "redirect", "dev", "ifb0"],
    ]
    for device in ("c0", "ifb0"):
        parent = ["root"]
        if spec.words:
            commands.append(["tc", "-n", namespace, "qdisc", "add", "dev", device, "root", "handle", "1:",
                             "netem", *spec.all_words.split()])
            parent = ["parent", "1:"]
        if spec.flow_rate:
            commands.append(["tc", "-n", namespace, "qdisc", "add", "dev", device, *parent,
                             "fq", "maxrate", spec.flow_rate, "limit", str(QUEUE_PACKETS)])
    return commands


def set_up_netem(spec, net):
    for command in netem_commands(spec, net.namespace("cli")):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise LabError(f"{' '.join(command)}: {done.stderr.strip()}")
    network.ip("-n", net.namespace("cli"), "link", "set", "c0", "gso_max_segs", "1")
    network.ip("-n", net.namespace("prx"), "link", "set", "c1", "gso_max_segs", "1")


def user_space_argv(spec, net, path, seed):
    argv = [path, "--a", f"{net.namespace('cli')}:c0:{network.CLIENT}/24",
            "--b", f"{net.namespace('prx')}:c1:{network.PROXY_OUTSIDE}/24",
            "--link", spec.all_words, "--mtu", str(network.MTU_BYTES), "--seed", str(seed)]
    return argv + (["--flow-rate", spec.flow_rate] if spec.flow_rate else [])


def start_user_space(spec, run_sides, net, path, seed, deadline_s=10.0):
    """Starts headrace-link among the client's processes and waits until both devices stand."""
    argv = user_space_argv(spec, net, path, seed)
    process = run_sides.start("cli", argv, in_namespace=False, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    end, said = time.monotonic() + deadline_s, b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stderr, selectors.EVENT_READ)
        while b"ready" not in said:
            if not selector.select(timeout=max(end - time.monotonic(), 0)):
                break
            data = os.read(process.stderr.fileno(), 4096)
            if not data:
                break
            said += data
    if b"ready" not in said:
        raise LabError(f"headrace-link does not start: {said.decode(errors='replace').strip()}")
    return process
