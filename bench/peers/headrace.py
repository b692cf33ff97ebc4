"""headrace: relay, HTTP, CONNECT, SOCKS, and TLS both ways where the binary has it.

    headrace                                     the tree's release build
    headrace:/path/to/headrace:label=before      another binary, told apart by its label
    headrace::splice=never                       KEY=VALUE: --splice and --grace, or else --set KEY=VALUE
"""

import re
import subprocess
from pathlib import Path

from labkit.recipe import Launch, Peer

TREE = Path(__file__).resolve().parents[2]
COMMANDS = {"relay": "relay", "tls-term": "relay", "tls-init": "relay", "http": "http", "connect": "http",
            "socks": "socks"}
OWN_OPTIONS = ("splice", "grace")


class Headrace(Peer):
    families = ("relay", "http", "connect", "socks", "tls-term", "tls-init")
    options = {
        "splice=never": "or always, auto: how bulk data moves",
        "grace=off": "or BYTES,READS,MS: gather small reads",
        "KEY=VALUE": "any key of the configuration",
    }
    version_args = ("version",)

    def accepts(self, option):
        return re.fullmatch(r"[a-z_]+=.+", option) is not None

    @property
    def splices(self):
        return not self.has("splice=never")

    def find(self):
        path = TREE / "build/release/src/app/headrace"
        return str(path) if path.exists() else ""

    def serves(self, family):
        if family.startswith("tls"):
            return bool(self.binary) and self._has_tls()
        return family in self.families

    def _has_tls(self):
        if not hasattr(self, "_tls"):
            done = subprocess.run([self.binary, "help", "relay"], capture_output=True, text=True)
            self._tls = "--tls-cert" in done.stdout + done.stderr
        return self._tls

    def launch(self, job):
        argv = [self.binary, COMMANDS[job.family], str(job.listen), "--workers", str(job.workers)]
        if COMMANDS[job.family] == "relay":
            argv += ["--to", str(job.origin)]
        else:
            # The lab's clients are not on loopback and its origin has a private address. Our origin listens on
            # ports below 1024, which a CONNECT must be allowed to.
            argv += ["--open", "--allow-private", "--set", "connect_ports=any"]
        if job.family == "tls-term":
            argv += ["--tls-cert", str(job.certificate), "--tls-key", str(job.key)]
        elif job.family == "tls-init":
            argv += ["--to-tls", "--to-insecure"]
        for option in self.chosen:
            key, value = option.split("=", 1)
            argv += [f"--{key}", value] if key in OWN_OPTIONS else ["--set", option]
        return Launch(argv)
