"""What a run cost each side: two snapshots, and their difference.

Two figures of CPU time for the proxy, since they answer different questions. Busy time is what its CPUs did
besides idling, from /proc/stat: the proxy's processes plus the interrupts and softirqs its traffic causes there.
Task time is what the scheduler charged to its processes. A proxy that moves its work into the kernel's softirqs
looks good in the second and no better in the first. What processes of others took of the CPUs is known exactly
with control groups of version 1, and is taken off the busy time; elsewhere it is an estimate and only told.
"""

import time
from dataclasses import dataclass, field

from . import proc
from .cpus import ROLES

BUSY_LIMIT = 0.9            # a side busy for that share of the run set the pace
THREADS_WATCHED = 64        # more than these of one side are not looked at one by one


@dataclass
class Snapshot:
    at_s: float
    cpus: dict
    used_s: dict
    threads: dict
    retransmitted: int
    foreign_s: dict         # role -> seconds, exact; or None
    others: dict            # the estimate in its stead


@dataclass
class Cost:
    """Of one run, in shares of its length where it says share."""

    elapsed_s: float
    busy_s: dict = field(default_factory=dict)          # role -> CPU seconds of its CPUs, without others' processes
    used_s: dict = field(default_factory=dict)          # role -> CPU seconds of its processes
    utilisation: dict = field(default_factory=dict)     # role -> busy share of its CPUs
    busiest_thread: dict = field(default_factory=dict)  # role -> share of one CPU
    retransmitted: int = 0
    foreign_share: float = 0.0      # of the proxy's CPUs, taken by processes that are none of ours
    steal_share: float = 0.0        # of the proxy's CPUs, taken by the hypervisor

    def bound(self, placement, quota=0.0):
        """Which side was what ran out: client, proxy, server or none. quota: what the proxy may use, in CPUs."""
        shares = {role: max(self.utilisation.get(role, 0), self.busiest_thread.get(role, 0)) for role in ROLES}
        if quota:
            shares["prx"] = self.used_s.get("prx", 0) / self.elapsed_s / quota
        full = {role: share for role, share in shares.items() if share >= BUSY_LIMIT}
        if not full:
            return "none"
        busiest = max(full, key=full.get)
        # A full proxy is the answer, also when the ends have little left: more CPU for them would not help.
        if "prx" in full and full["prx"] >= full[busiest] - 0.05 and not placement.proxy_shares:
            return "proxy"
        # Sides that share CPUs have the same utilisation; the one that used more of them set the pace.
        sharing = [role for role in full if placement.of(role) & placement.of(busiest)]
        busiest = max(sharing, key=lambda role: self.used_s.get(role, 0))
        return {"cli": "client", "prx": "proxy", "srv": "server"}[busiest]


class Meter:
    """Takes the snapshots; one pid of each side leads to its namespace."""

    def __init__(self, groups, placement, pids):
        self.groups = groups
        self.placement = placement
        self.pids = pids        # role -> pid

    def snapshot(self):
        at_s = time.monotonic()     # first, and the CPUs right behind it: the rest may take its time
        cpus = proc.cpu_times()
        foreign = {role: self.groups.foreign_cpu_s(self.placement.of(role)) for role in ROLES}
        if None in foreign.values():
            foreign = None
        else:
            softirqs = proc.ksoftirqd_cpu_s()
            for role in ROLES:
                foreign[role] -= sum(softirqs.get(cpu, 0.0) for cpu in self.placement.of(role))
        ours = {pid for role in ROLES for pid in self.groups.pids(role)}
        return Snapshot(at_s, cpus, {role: self.groups.cpu_s(role) for role in ROLES},
                        {role: self._threads(role) for role in ROLES},
                        sum(proc.retransmitted(pid) for pid in self.pids.values()), foreign,
                        {} if foreign is not None else proc.others_cpu_s(ours))

    def _threads(self, role):
        pids = self.groups.pids(role)
        if len(pids) > THREADS_WATCHED or sum(proc.thread_count(pid) for pid in pids) > THREADS_WATCHED:
            return {}
        return {thread: used for pid in pids for thread, used in proc.thread_cpu_s(pid).items()}

    def cost(self, first, last):
        elapsed = last.at_s - first.at_s
        cost = Cost(elapsed)
        for role in ROLES:
            cpus = self.placement.of(role)
            idle = sum(last.cpus[c].idle_s - first.cpus[c].idle_s for c in cpus)
            steal = sum(last.cpus[c].steal_s - first.cpus[c].steal_s for c in cpus)
            foreign = last.foreign_s[role] - first.foreign_s[role] if first.foreign_s else 0.0
            # /proc/stat and our clock are not read in the same instant; a side is never more than fully busy.
            whole = elapsed * len(cpus)
            busy = min(max(whole - idle - steal - max(foreign, 0.0), 0.0), whole)
            cost.busy_s[role] = busy
            cost.utilisation[role] = busy / whole
            cost.used_s[role] = last.used_s[role] - first.used_s[role]
            cost.busiest_thread[role] = max(
                (used - first.threads[role].get(thread, 0.0) for thread, used in last.threads[role].items()),
                default=0.0) / elapsed
            if role == "prx":
                cost.steal_share = steal / whole
                cost.foreign_share = max(foreign, 0.0) / whole
        cost.retransmitted = last.retransmitted - first.retransmitted
        if not first.foreign_s:
            taken = sum(used - first.others.get(pid, (cpu, 0.0))[1] for pid, (cpu, used) in last.others.items()
                        if cpu in self.placement.prx)
            cost.foreign_share = taken / (elapsed * len(self.placement.prx))
        return cost
