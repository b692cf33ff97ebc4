"""What /proc says: times of CPUs, processes and threads, memory, listeners, retransmissions."""

import os
import signal
from pathlib import Path
from typing import NamedTuple

TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def _read(path):
    try:
        return Path(path).read_text()
    except OSError:     # the process went away
        return ""


class CpuTimes(NamedTuple):
    """One CPU since boot. Idle time is exact (the kernel stamps each nap); user and system are sampled at ticks."""

    idle_s: float       # idle and waiting for disks
    steal_s: float      # the hypervisor ran somebody else


def cpu_times():
    """{cpu: CpuTimes}"""
    times = {}
    for line in _read("/proc/stat").splitlines():
        name, *fields = line.split()
        if name.startswith("cpu") and name != "cpu":
            ticks = [int(f) for f in fields]
            times[int(name[3:])] = CpuTimes((ticks[3] + ticks[4]) / TICKS_PER_S, ticks[7] / TICKS_PER_S)
    return times


def _stat_fields(path):
    """Fields of a stat file from the third on: the second, the name, may hold blanks and brackets."""
    text = _read(path)
    return text[text.rfind(")") + 2:].split() if text else []


def alive(pid):
    fields = _stat_fields(f"/proc/{pid}/stat")
    return bool(fields) and fields[0] not in "ZX"


def start_time(pid):
    """Distinguishes a process from a later one of the same number."""
    fields = _stat_fields(f"/proc/{pid}/stat")
    return int(fields[19]) if fields else None


def cpu_s(pid):
    """User and system time of a process and of its children that have ended."""
    fields = _stat_fields(f"/proc/{pid}/stat")
    return sum(int(f) for f in fields[11:15]) / TICKS_PER_S if fields else 0.0


def thread_cpu_s(pid):
    """{thread: seconds}"""
    times = {}
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return times
    for tid in threads:
        fields = _stat_fields(f"/proc/{pid}/task/{tid}/stat")
        if fields:
            times[int(tid)] = (int(fields[11]) + int(fields[12])) / TICKS_PER_S
    return times


def thread_count(pid):
    fields = _stat_fields(f"/proc/{pid}/stat")
    return int(fields[17]) if fields else 0


def descendants(roots):
    """Those of the processes that live, and their children, and theirs."""
    children = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            fields = _stat_fields(f"/proc/{entry}/stat")
            if fields:
                children.setdefault(int(fields[1]), []).append(int(entry))
    found, todo = [], [pid for pid in roots if alive(pid)]
    while todo:
        pid = todo.pop()
        found.append(pid)
        todo += children.get(pid, [])
    return found


def kill(pid, sig=signal.SIGKILL):
    try:
        os.kill(pid, sig)
    except ProcessLookupError:
        pass


def status_bytes(pid, key):
    """A line of /proc/PID/status that is in kB."""
    for line in _read(f"/proc/{pid}/status").splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1]) * 1024
    return 0


def pss_bytes(pid):
    """Proportional set size: shared pages count for their share."""
    for line in _read(f"/proc/{pid}/smaps_rollup").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return 0


def slab_bytes():
    """The kernel's own objects, sockets among them, of the whole machine."""
    for line in _read("/proc/meminfo").splitlines():
        if line.startswith("Slab:"):
            return int(line.split()[1]) * 1024
    return 0


def others_cpu_s(ours):
    """{pid: (CPU it was last on, seconds)} of user processes that are none of ours. Kernel threads are left out:
    what they do on the proxy's CPUs is mostly the network's work."""
    kernel_thread = 0x00200000
    times = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit() and int(entry) not in ours:
            fields = _stat_fields(f"/proc/{entry}/stat")
            if fields and not int(fields[6]) & kernel_thread:
                times[int(entry)] = int(fields[36]), (int(fields[11]) + int(fields[12])) / TICKS_PER_S
    return times


def ksoftirqd_cpu_s():
    """{CPU: seconds} of the kernel's network threads: part of a side's work, not somebody else's."""
    times = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            name = _read(f"/proc/{entry}/comm").strip()
            if name.startswith("ksoftirqd/"):
                times[int(name.split("/")[1])] = cpu_s(int(entry))
    return times


def retransmitted(pid):
    """TCP segments sent again so far in the network namespace of that process."""
    rows = [line.split() for line in _read(f"/proc/{pid}/net/snmp").splitlines() if line.startswith("Tcp:")]
    if len(rows) != 2:
        return 0
    return int(dict(zip(rows[0], rows[1])).get("RetransSegs", 0))


def listens(pid, port):
    """Whether somebody in the namespace of that process accepts TCP connections on the port."""
    listening = "0A"
    for table in ("tcp", "tcp6"):
        for line in _read(f"/proc/{pid}/net/{table}").splitlines()[1:]:
            fields = line.split()
            if fields[3] == listening and int(fields[1].rsplit(":", 1)[1], 16) == port:
                return True
    return False
