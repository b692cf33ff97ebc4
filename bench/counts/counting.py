"""What the commands of this folder share: headrace found, the sides set up by the lab, targets, tables.

The sides (namespaces, CPUs, priority, clean-up however a command ends) are those of the lab, ../labkit; what is
counted here is counted under the lab's conditions.
"""

import argparse
import contextlib
import os
import random
import socket
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from labkit import cpus, network, recipe, runner, session, sides  # noqa: E402
from labkit.errors import LabError  # noqa: E402

TREE = HERE.parents[1]
ENDS = [sys.executable, "-B", str(HERE / "ends.py")]
SESSION_TAG = "hrcounts"
SMALL_BYTES = 1024


@dataclass(frozen=True)
class Target:
    """What a figure has to stay under."""

    most: float

    def judge(self, value):
        return f"at most {self.most:g}: {'met' if self.met(value) else 'MISSED'}"

    def met(self, value):
        return value <= self.most


class Judge:
    """Collects which targets were missed, for the exit status."""

    def __init__(self):
        self.missed = 0

    def __call__(self, target, value):
        """-> what stands in the table's last column."""
        if target is None:
            return ""
        self.missed += not target.met(value)
        return target.judge(value)


def parser(description, epilog=""):
    made = argparse.ArgumentParser(description=description, epilog=epilog,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--headrace", default="", metavar="PATH", help="the binary (default: the tree's release build)")
    made.add_argument("--check", action="store_true", help="exit with 1 if a target is missed")
    return made


def main(made_parser, run):
    """Runs a command: run(arguments, judge). -> exit status"""
    arguments = made_parser.parse_args()
    arguments.headrace = find_headrace(arguments.headrace)
    judge = Judge()
    try:
        run(arguments, judge)
    except LabError as error:
        print(f"{made_parser.prog}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 1 if arguments.check and judge.missed else 0


def find_headrace(given):
    path = Path(given) if given else TREE / "build/release/src/app/headrace"
    if not os.access(path, os.X_OK):
        sys.exit(f"{path} is no program: build it (cmake --preset release && cmake --build --preset release), "
                 "or say --headrace PATH")
    return str(path.resolve())


def table(header, rows):
    """A Markdown table, aligned: the first column to the left, the others to the right."""
    texts = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in [header, *texts]) for i in range(len(header))]

    def line(cells):
        first = cells[0].ljust(widths[0])
        return "| " + " | ".join([first, *(c.rjust(w) for c, w in zip(cells[1:], widths[1:]))]) + " |"

    rule = "|" + "|".join(["-" * (widths[0] + 2)] + ["-" * (w + 1) + ":" for w in widths[1:]]) + "|"
    return "\n".join([line(header), rule, *map(line, texts)])


def free_port():
    """Below the ports that the kernel gives to clients, so that none of these takes it before its server does."""
    while True:
        port = random.randrange(10_000, 30_000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("", port))
            return port


# The sides, as the lab sets them up.
# ---------------------------------------------------------------------------------------------------------------------

@dataclass(frozen=True)
class Lab:
    """The lab's session, under a tag of our own, and which CPUs the sides have."""

    session: session.Session
    placement: cpus.Placement


@contextlib.contextmanager
def open_lab():
    """-> Lab; whatever it made is gone at the end."""
    opened = session.Session(SESSION_TAG)
    opened.open()
    try:
        lab = Lab(opened, cpus.default_placement())
        runner.make_way(lab.placement)      # we leave the proxy's CPU ourselves
        yield lab
    finally:
        opened.close()


class Setting:
    """Client, proxy and origin of one run: in namespaces joined by veth, or all on loopback."""

    def __init__(self, lab, loopback=False):
        self.session = lab.session
        self.placement = lab.placement
        self.loopback = loopback
        self.directory = self.session.scratch / "run"
        self.proxy = recipe.Address("127.0.0.1", free_port()) if loopback else network.PROXY
        self._sides = sides.Sides(self.session, sides.descriptor_limit())

    def __enter__(self):
        self.directory.mkdir(parents=True, exist_ok=True)
        self.groups.create(self.placement)
        if not self.loopback:
            self.session.network.create(self.placement)
        return self

    def __exit__(self, *_):
        self._sides.end()
        self.groups.remove()
        self.session.network.remove()

    @property
    def groups(self):
        """The sides' control groups."""
        return self.session.groups

    def origin(self, port):
        """Where the origin of that port is; on loopback any free one stands for it."""
        return recipe.Address("127.0.0.1", free_port()) if self.loopback else recipe.Address(network.ORIGIN, port)

    def start(self, role, argv, **streams):
        return self._sides.start(role, argv, in_namespace=not self.loopback, cwd=self.directory, **streams)

    def serve(self, role, argv, address):
        """Starts a server and waits until it listens. -> Popen"""
        said = self.directory / f"said-{role}"
        with open(said, "wb") as output:
            process = self.start(role, argv, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        if not sides.wait_until_listening(process, address.port):
            raise LabError(f"{argv[0]} does not start: {said.read_text(errors='replace').strip()[-400:]}")
        return process

    def serve_small_answers(self):
        """nginx with one worker, answering every request with 1 KB. -> Address"""
        address = self.origin(80)
        config = self.directory / "origin.conf"
        config.write_text(ORIGIN_CONFIG.format(
            address=address, directory=self.directory, body="x" * SMALL_BYTES,
            connections=max(min(self._sides.descriptors, 20_000) - 1000, 512)))
        self.serve("srv", ["nginx", "-p", self.directory, "-e", "stderr", "-c", config], address)
        return address

    def serve_large_answers(self):
        """Answers of any length, cheaply made. -> Address"""
        address = self.origin(5080)
        self.serve("srv", [*ENDS, "origin", str(address)], address)
        return address

    def job(self, family, origin):
        """What a recipe of ../peers wants to know."""
        return recipe.Job(family=family, listen=self.proxy, origin=origin, workers=len(self.placement.prx),
                          connections=1000, descriptors=self._sides.descriptors, directory=self.directory,
                          certificate=Path(), key=Path())

    def serve_peer(self, peer, family, origin):
        return self.serve("prx", peer.launch(self.job(family, origin)).argv, self.proxy)


ORIGIN_CONFIG = """daemon off;
user root;
worker_processes 1;
worker_rlimit_nofile 20000;
pid {directory}/origin.pid;
error_log stderr crit;
events {{
    worker_connections {connections};
}}
http {{
    access_log off;
    keepalive_requests 1000000000;
    keepalive_timeout 600s;
    client_body_temp_path {directory}/origin-body;
    proxy_temp_path {directory}/origin-proxy;
    fastcgi_temp_path {directory}/origin-fastcgi;
    uwsgi_temp_path {directory}/origin-uwsgi;
    scgi_temp_path {directory}/origin-scgi;
    server {{
        listen {address} backlog=65535;
        location / {{
            default_type text/plain;
            return 200 "{body}";
        }}
    }}
}}
"""
