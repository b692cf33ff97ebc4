"""How a proxy is described to the lab: one file in bench/peers per proxy, one class in it.

    class Microsocks(Peer):
        package = "microsocks"
        program = "microsocks"
        families = ("socks",)

        def launch(self, job):
            return Launch([self.binary, "-q", "-i", job.listen.host, "-p", str(job.listen.port)])

The proxy stays in the foreground, keeps no log, and is confined to its CPUs by the lab; a recipe only says
how many workers it gets and writes its configuration through job.write().
"""

import importlib.util
import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from .errors import LabError

PEERS_DIRECTORY = Path(__file__).resolve().parent.parent / "peers"


class Address(NamedTuple):
    host: str
    port: int

    def __str__(self):
        return f"{self.host}:{self.port}"


@dataclass
class Job:
    """All that a recipe may want to know about the run it is started for."""

    family: str
    listen: Address             # where the proxy is to accept
    origin: Address             # what a relay leads to; forward proxies are asked for it by the client
    workers: int                # CPUs of the proxy
    connections: int            # the most the client holds at once
    descriptors: int            # RLIMIT_NOFILE of the proxy
    directory: Path             # scratch, gone after the run
    certificate: Path           # PEM, P-256
    key: Path
    files: dict = field(default_factory=dict)

    @property
    def pem(self):
        """Key and certificate in one file, as haproxy and hitch want it."""
        return self.certificate.with_name("both.pem")

    def write(self, name, text):
        """A configuration file; what was written is kept with the results."""
        path = self.directory / name
        path.write_text(text)
        self.files[name] = text
        return str(path)


@dataclass
class Launch:
    argv: list
    env: dict = field(default_factory=dict)


class Peer:
    """A proxy as `--proxies` names it: NAME[:PATH][:OPTION...], PATH may be empty or left out."""

    package = ""                # Debian's, to offer its installation; empty: the user gives a path
    program = ""                # found in PATH and the sbin folders
    families = ()               # what it can be in one scenario or another
    options = {}                # option -> what it does
    transparent = False         # no proxy at all: the client goes through a router to the origin
    version_args = ("--version",)
    version_pattern = r"\d+\.\d+[\w.+-]*"

    def __init__(self, kind, path="", chosen=()):
        self.kind = kind
        self.label = next((o[len("label="):] for o in chosen if o.startswith("label=")), "")
        self.chosen = tuple(o for o in chosen if not o.startswith("label="))
        for option in self.chosen:
            if not self.accepts(option):
                known = ", ".join(sorted(self.options)) or "none"
                raise LabError(f"{kind} has no option {option!r} (it has: {known})")
        self.binary = str(Path(path).resolve()) if path else self.find()
        if path and not os.access(self.binary, os.X_OK):
            raise LabError(f"{kind}: {path} is no program")

    # What a recipe overrides.

    def launch(self, job):
        """-> Launch"""
        raise NotImplementedError

    def accepts(self, option):
        return option in self.options

    def serves(self, family):
        """Whether this proxy, with these options, can take that part."""
        return family in self.families

    def problem(self):
        """Why this machine cannot run it as asked for, or ''."""
        return ""

    @property
    def splices(self):
        """Moves bulk data by splice() in the kernel: the reports' second group."""
        return False

    # What all have in common.

    @property
    def name(self):
        return "-".join(filter(None, [self.kind, self.label, *(o.lstrip("-") for o in self.chosen)]))

    @property
    def installed(self):
        return bool(self.binary)

    def find(self):
        path = os.environ.get("PATH", "") + ":/usr/local/sbin:/usr/sbin:/sbin"
        return shutil.which(self.program, path=path) or ""

    def version(self):
        try:
            done = subprocess.run([self.binary, *self.version_args], capture_output=True, text=True, timeout=10,
                                  stdin=subprocess.DEVNULL)
        except (OSError, subprocess.TimeoutExpired):
            return "unknown"
        match = re.search(self.version_pattern, done.stdout + done.stderr)
        return match[0] if match else "unknown"

    def package_version(self):
        """Debian's word for a binary that cannot tell its version, if it is Debian's."""
        try:
            owned = subprocess.run(["dpkg-query", "-L", self.package], capture_output=True, text=True).stdout
            shown = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", self.package], capture_output=True,
                                   text=True).stdout
        except OSError:
            return "unknown"
        return shown if self.binary in owned.split() else "unknown"

    def has(self, option):
        return option in self.chosen


def load_kinds(directory=PEERS_DIRECTORY):
    """{'nginx': its class, ...} from the files of bench/peers, whose names are the proxies' names."""
    kinds = {}
    for path in sorted(Path(directory).glob("*.py")):
        spec = importlib.util.spec_from_file_location("peer_" + re.sub(r"\W", "_", path.stem), path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        classes = [value for value in vars(module).values()
                   if isinstance(value, type) and issubclass(value, Peer) and value is not Peer]
        if len(classes) != 1:
            raise LabError(f"{path} has {len(classes)} recipes; one file, one peer")
        kinds[path.stem] = classes[0]
    return kinds


def parse_peer(text, kinds):
    """'3proxy:/path:ktls', 'nginx::ktls', 'haproxy:splice' -> Peer"""
    kind, *rest = text.split(":")
    if kind not in kinds:
        raise LabError(f"no recipe for {kind!r}; there are {', '.join(kinds)}")
    path = ""
    if rest and ("/" in rest[0] or not rest[0]) and not rest[0].startswith("label="):
        path, *rest = rest
    return kinds[kind](kind, path, tuple(filter(None, rest)))


def split_words(words):
    """['nginx,haproxy', '3proxy:/p:-g8000,2,2'] -> one word per proxy: a comma before a bare number is inside one."""
    out = []
    for word in words:
        for part in word.split(","):
            if out and re.fullmatch(r"\d+", part):
                out[-1] += "," + part
            elif part:
                out.append(part)
    return out
