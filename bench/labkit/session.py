"""One lab at a time, and everything it made goes away again, however it ends.

Whatever outlives a process (namespaces, control groups, processes, sysctls, scratch files) is found again by
the session's tag or written to its journal before it is made. Three ways lead to the same clean-up: the lab's
own end, a guard process that wakes when the lab dies without a word (kill -9), and `lab clean` after both died.
"""

import fcntl
import json
import os
import shutil
import signal
import time
from pathlib import Path

from . import cgroups, network, proc
from .errors import LabError

RUN_DIRECTORY = Path("/run/headrace-lab")
DEFAULT_TAG = "hrlab"
_DONE = b"d"


class Session:
    """The lock, the journal and the scratch directory of one tag."""

    def __init__(self, tag=DEFAULT_TAG):
        if not tag.isalnum() or len(tag) > 12:
            raise LabError(f"--tag {tag!r}: letters and digits, twelve at most")
        self.tag = tag
        self.directory = RUN_DIRECTORY / tag
        self.scratch = self.directory / "scratch"
        self.journal = self.directory / "journal"
        self.groups = cgroups.choose(tag)
        self.network = network.Network(tag)
        self._lock = None
        self._guard_pipe = None
        self._guard_pid = None

    def open(self):
        """Takes the lock, clears what a crashed lab left, and posts the guard."""
        if not network.is_root():
            raise LabError("network namespaces and control groups need root: run the lab as root")
        self.take_lock()
        self.clean()
        self.scratch.mkdir(parents=True, exist_ok=True)
        self._post_guard()
        for key, wanted in network.MACHINE_SYSCTLS.items():
            self._raise_sysctl(key, wanted)
        self._allow_congestion_control()

    def take_lock(self, wait_s=15.0):
        """Waits a little: the guard of a lab that was just killed may still be cleaning up."""
        self.directory.mkdir(parents=True, exist_ok=True)
        self._lock = os.open(self.directory / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        end = time.monotonic() + wait_s
        while True:
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                owner = os.pread(self._lock, 32, 0).decode().strip()
                if (owner and proc.alive(int(owner))) or time.monotonic() > end:
                    os.close(self._lock)
                    raise LabError(f"a lab is running already (process {owner}); one at a time per --tag") from None
                time.sleep(0.05)
        os.ftruncate(self._lock, 0)
        os.pwrite(self._lock, f"{os.getpid()}\n".encode(), 0)

    def note(self, **entry):
        """To the journal, and to the disk, before the thing itself is done."""
        with open(self.journal, "a") as journal:
            journal.write(json.dumps(entry) + "\n")

    def _raise_sysctl(self, key, wanted):
        old = network.read_sysctl(key)
        if old is not None and int(old) < wanted:
            self.note(sysctl=key, old=old)
            network.write_sysctl(key, wanted)

    def _allow_congestion_control(self):
        allowed = network.read_sysctl(network.ALLOWED_CONGESTION_CONTROL) or ""
        if network.CONGESTION_CONTROL not in allowed.split():
            self.note(sysctl=network.ALLOWED_CONGESTION_CONTROL, old=allowed)
            network.write_sysctl(network.ALLOWED_CONGESTION_CONTROL, f"{allowed} {network.CONGESTION_CONTROL}")

    def _post_guard(self):
        """A child that does nothing until the pipe from us ends, then cleans up unless we said that we did.

        It shares the lock's open file, so the next lab waits until it is through.
        """
        read_end, write_end = os.pipe()
        pid = os.fork()
        if pid:
            os.close(read_end)
            self._guard_pipe, self._guard_pid = write_end, pid
            return
        try:
            os.setsid()
            os.close(write_end)
            null = os.open(os.devnull, os.O_RDWR)
            for fd in (0, 1, 2):
                os.dup2(null, fd)
            for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(ignored, signal.SIG_IGN)
            if os.read(read_end, 1) != _DONE:
                self.clean()
        finally:
            os._exit(0)

    def close(self):
        """Cleans up and lets the guard go. A second Ctrl-C shall not leave half of it behind."""
        old = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            self.clean()
            if self._guard_pid:
                os.write(self._guard_pipe, _DONE)
                os.close(self._guard_pipe)
                os.waitpid(self._guard_pid, 0)
                self._guard_pid = None
            os.close(self._lock)
        finally:
            signal.signal(signal.SIGINT, old)

    def clean(self):
        """Takes away all of this tag, whoever made it. Says what there was."""
        found = []
        entries = self._journal_entries()
        for pid in self.network.pids():
            found.append(f"process {pid}")
            proc.kill(pid)
        for entry in entries:
            # What runs outside the namespaces (the emulated link), and where there are no control groups.
            if "pid" in entry and proc.start_time(entry["pid"]) == entry["started"]:
                proc.kill(entry["pid"])
        self.groups.remove()
        for namespace in self.network.leftovers():
            found.append(f"namespace {namespace}")
        self.network.remove()
        for entry in reversed(entries):
            if "sysctl" in entry:
                found.append(f"sysctl {entry['sysctl']}")
                network.write_sysctl(entry["sysctl"], entry["old"])
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.journal.unlink(missing_ok=True)
        return found

    def _journal_entries(self):
        entries = []
        try:
            lines = self.journal.read_text().splitlines()
        except OSError:
            return entries
        for line in lines:
            try:
                entries.append(json.loads(line))
            except ValueError:      # the lab died while it wrote the last line: that thing was not done yet
                pass
        return entries


def known_tags():
    return sorted(path.name for path in RUN_DIRECTORY.glob("*") if path.is_dir())
