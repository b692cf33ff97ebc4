"""Starts the processes of the three sides: in their namespace, on their CPUs, with raised limits."""

import os
import resource
import subprocess
import time

from . import proc
from .errors import LabError

DESCRIPTORS_WANTED = 1_048_576
CLIENT_NICENESS = -10       # what the control groups' shares say, for machines without them


def descriptor_limit():
    """The most descriptors a process of ours can have: what we may raise the limit to."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, max(hard, DESCRIPTORS_WANTED)))
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        return max(hard, DESCRIPTORS_WANTED)
    except (ValueError, OSError):   # not allowed to: sandboxes take CAP_SYS_RESOURCE away
        return hard


def connection_limit(descriptors):
    """Connections a proxy can hold with two descriptors each and some to spare."""
    return (descriptors - 2000) // 2 if descriptors > 4000 else descriptors // 4


class Sides:
    """The processes of one run."""

    def __init__(self, session, descriptors):
        self.session = session
        self.descriptors = descriptors
        self.processes = []

    def start(self, role, argv, env=None, in_namespace=True, **streams):
        """-> Popen. Pid of the program itself: `ip netns exec` executes it in its own place."""
        if in_namespace:
            argv = ["ip", "netns", "exec", self.session.network.namespace(role), *argv]
        groups, descriptors = self.session.groups, self.descriptors

        def settle_in():
            resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))
            groups.join(role)
            os.setpriority(os.PRIO_PROCESS, 0, CLIENT_NICENESS if role == "cli" else 0)

        try:
            process = subprocess.Popen([str(a) for a in argv], env={**os.environ, **(env or {})},
                                       start_new_session=True, preexec_fn=settle_in, **streams)
        except (OSError, subprocess.SubprocessError) as error:
            raise LabError(f"cannot start {argv[0]}: {error}") from None
        if not groups.directories(role):
            groups.adopt(role, process.pid)
        self.session.note(pid=process.pid, started=proc.start_time(process.pid))
        self.processes.append(process)
        return process

    def end(self):
        """No side is asked to end in peace: what a run had to tell has been told."""
        for process in self.processes:
            proc.kill(process.pid)
        for role in ("cli", "prx", "srv"):
            self.session.groups.kill(role)
        for process in self.processes:
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream:
                    stream.close()
        self.processes.clear()


def wait_until_listening(process, port, deadline_s=20.0):
    """True once somebody in the process's namespace accepts on the port, False if it died or took too long."""
    end = time.monotonic() + deadline_s
    while time.monotonic() < end:
        if process.poll() is not None:
            return False
        if proc.listens(process.pid, port):
            return True
        time.sleep(0.01)
    return False
