"""Control groups of the three sides: their CPUs, the proxy's quota, CPU time and peak memory.

Three forms of the same thing: version 1 (one hierarchy per controller), version 2 (one for all), and none at
all, where the affinity mask has to do and time and memory are summed over the processes. Which one it is
stands in the provenance of each result, for with none a proxy could leave its CPUs.
"""

import os
import time
from pathlib import Path

from . import proc
from .cpus import ROLES, format_list

QUOTA_PERIOD_US = 100_000

# Whoever else works on this machine stands back for the length of a run; and of sides on the same CPUs the client
# comes first, for it is the instrument: what is due shall not wait for the origin.
LAB_SHARES, CLIENT_SHARES = 262_144, 10_240     # version 1, where 1024 is a group's usual share
LAB_WEIGHT, CLIENT_WEIGHT = 10_000, 1000        # version 2, where it is 100
V1_CONTROLLERS = ("cpuset", "cpu", "cpuacct", "memory")


def _read(path):
    try:
        return Path(path).read_text()
    except OSError:
        return ""


def _write(path, text):
    """Straight to the file: a control file takes one write and answers by its result."""
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, str(text).encode())
    finally:
        os.close(fd)


class Groups:
    """What all three forms share; a subclass knows the files."""

    note = ""

    def __init__(self, tag):
        self.tag = tag

    def create(self, placement, quota=None):
        raise NotImplementedError

    def directories(self, role):
        """Every directory a process of that side has to be in."""
        raise NotImplementedError

    def join(self, role):
        """Called in the child between fork and exec."""
        for directory in self.directories(role):
            _write(directory / "cgroup.procs", os.getpid())

    def pids(self, role):
        return [int(pid) for directory in self.directories(role)[:1]
                for pid in _read(directory / "cgroup.procs").split()]

    def parents(self):
        """Directories above those of the sides, for the end of remove()."""
        raise NotImplementedError

    def foreign_cpu_s(self, cpus):
        """CPU time on those CPUs of all processes that are not the lab's sides, or None where no group tells."""
        return None

    def remove(self):
        """Kills what is inside and takes the groups away; also those of a lab that crashed."""
        for role in ROLES:
            self.kill(role)
            for directory in self.directories(role):
                _rmdir(directory)
        for directory in self.parents():
            _rmdir(directory)

    def kill(self, role, deadline_s=5.0):
        end = time.monotonic() + deadline_s
        while self.pids(role) and time.monotonic() < end:
            for pid in self.pids(role):
                proc.kill(pid)
            time.sleep(0.01)


def _rmdir(directory, deadline_s=2.0):
    """A group can be removed only when its last process has been reaped, which takes a moment."""
    end = time.monotonic() + deadline_s
    while directory.is_dir():
        try:
            directory.rmdir()
        except OSError:
            if time.monotonic() > end:
                return
            time.sleep(0.01)


class GroupsV1(Groups):
    def __init__(self, tag, root=Path("/sys/fs/cgroup")):
        super().__init__(tag)
        self.root = Path(root)
        self.note = "cgroup v1 (cpuset, cpu, cpuacct, memory)"

    @staticmethod
    def available(root=Path("/sys/fs/cgroup")):
        return all(os.access(Path(root) / c / "cgroup.procs", os.W_OK) for c in V1_CONTROLLERS)

    def parents(self):
        return [self.root / c / self.tag for c in V1_CONTROLLERS]

    def directories(self, role):
        return [parent / role for parent in self.parents()]

    def create(self, placement, quota=None):
        mems = _read(self.root / "cpuset" / "cpuset.mems").strip()
        for parent in self.parents():
            parent.mkdir(exist_ok=True)
        everything = placement.cli | placement.prx | placement.srv
        for directory, cpus in [(self.root / "cpuset" / self.tag, everything)] + \
                [(self.root / "cpuset" / self.tag / role, placement.of(role)) for role in ROLES]:
            directory.mkdir(exist_ok=True)
            _write(directory / "cpuset.cpus", format_list(cpus))
            _write(directory / "cpuset.mems", mems)
        for role in ROLES:
            for directory in self.directories(role):
                directory.mkdir(exist_ok=True)
        _write(self.root / "cpu" / self.tag / "cpu.shares", LAB_SHARES)
        _write(self.root / "cpu" / self.tag / "cli" / "cpu.shares", CLIENT_SHARES)
        if quota:
            prx = self.root / "cpu" / self.tag / "prx"
            _write(prx / "cpu.cfs_period_us", QUOTA_PERIOD_US)
            _write(prx / "cpu.cfs_quota_us", int(quota * QUOTA_PERIOD_US))

    def cpu_s(self, role):
        usage = _read(self.root / "cpuacct" / self.tag / role / "cpuacct.usage")
        return int(usage or 0) / 1e9

    def foreign_cpu_s(self, cpus):
        everyone = _read(self.root / "cpuacct" / "cpuacct.usage_percpu").split()
        ours = _read(self.root / "cpuacct" / self.tag / "cpuacct.usage_percpu").split()
        if not everyone or not ours:
            return None
        return sum(int(everyone[cpu]) - int(ours[cpu]) for cpu in cpus) / 1e9

    def reset_peak(self, role):
        _write(self.root / "memory" / self.tag / role / "memory.max_usage_in_bytes", 0)

    def peak_bytes(self, role):
        return int(_read(self.root / "memory" / self.tag / role / "memory.max_usage_in_bytes") or 0)

    def memory_bytes(self, role):
        return int(_read(self.root / "memory" / self.tag / role / "memory.usage_in_bytes") or 0)


class GroupsV2(Groups):
    def __init__(self, tag, root=Path("/sys/fs/cgroup")):
        super().__init__(tag)
        self.root = Path(root)
        self.note = "cgroup v2 (cpuset, cpu, memory)"

    @staticmethod
    def available(root=Path("/sys/fs/cgroup")):
        controllers = _read(Path(root) / "cgroup.controllers").split()
        return {"cpuset", "cpu", "memory"} <= set(controllers) \
            and os.access(Path(root) / "cgroup.subtree_control", os.W_OK)

    def parents(self):
        return [self.root / self.tag]

    def directories(self, role):
        return [self.root / self.tag / role]

    def create(self, placement, quota=None):
        parent = self.root / self.tag
        _write(self.root / "cgroup.subtree_control", "+cpuset +cpu +memory")
        parent.mkdir(exist_ok=True)
        _write(parent / "cgroup.subtree_control", "+cpuset +cpu +memory")
        for role in ROLES:
            directory = parent / role
            directory.mkdir(exist_ok=True)
            _write(directory / "cpuset.cpus", format_list(placement.of(role)))
        _write(parent / "cpu.weight", LAB_WEIGHT)
        _write(parent / "cli" / "cpu.weight", CLIENT_WEIGHT)
        if quota:
            _write(parent / "prx" / "cpu.max", f"{int(quota * QUOTA_PERIOD_US)} {QUOTA_PERIOD_US}")

    def cpu_s(self, role):
        for line in _read(self.root / self.tag / role / "cpu.stat").splitlines():
            if line.startswith("usage_usec "):
                return int(line.split()[1]) / 1e6
        return 0.0


    def reset_peak(self, role):
        """Only an open descriptor can reset memory.peak, and only since Linux 6.12: left as it is."""

    def peak_bytes(self, role):
        directory = self.root / self.tag / role     # memory.peak: since Linux 5.19
        return int(_read(directory / "memory.peak") or _read(directory / "memory.current") or 0)

    def memory_bytes(self, role):
        return int(_read(self.root / self.tag / role / "memory.current") or 0)


class NoGroups(Groups):
    """Affinity alone. Processes are known by their descent from those the lab started."""

    def __init__(self, tag):
        super().__init__(tag)
        self.note = "no control groups: CPU affinity only, memory as the sum of resident peaks, no quota"
        self.roots = {role: [] for role in ROLES}
        self.placement = None

    def create(self, placement, quota=None):
        self.placement = placement

    def parents(self):
        return []

    def directories(self, role):
        return []

    def join(self, role):
        os.sched_setaffinity(0, self.placement.of(role))

    def adopt(self, role, pid):
        self.roots[role].append(pid)

    def pids(self, role):
        return proc.descendants(self.roots[role])

    def cpu_s(self, role):
        return sum(proc.cpu_s(pid) for pid in self.pids(role))

    def reset_peak(self, role):
        pass

    def peak_bytes(self, role):
        return sum(proc.status_bytes(pid, "VmHWM") for pid in self.pids(role))

    def memory_bytes(self, role):
        return sum(proc.status_bytes(pid, "VmRSS") for pid in self.pids(role))


def choose(tag):
    """The best that this machine lets us have."""
    if GroupsV1.available():
        return GroupsV1(tag)
    if GroupsV2.available():
        return GroupsV2(tag)
    return NoGroups(tag)
