"""The headrace binary under test: started on free ports, watched from outside, stopped and judged.

    with Proxy("http", "--access-log", "off") as proxy:
        with Client(proxy.address) as client: ...

On leaving the block the proxy gets TERM (and a second one if a session still drains); it must exit
with 0 and must not have reported a sanitizer finding or a failed assertion.
"""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import threading

from . import logfmt
from .timing import Stopwatch, limit, wait_until

LISTENING = re.compile(
    r"listening (?P<kind>\S+) (?P<address>\S+) listener=(?P<listener>\S+) workers=(?P<workers>\d+)")
_FINDINGS = re.compile(r"(Address|Leak|Thread|UndefinedBehavior)Sanitizer|runtime error:"
                       r"|assertion failed|terminate called")

# Idle pipes that a worker may keep (design.md section 5), two descriptors each.
_POOLED_PIPE_FDS_PER_WORKER = 4 * 2


def binary():
    """Path of the binary under test, from the environment."""
    path = os.environ.get("HEADRACE")
    if not path:
        raise RuntimeError("set HEADRACE to the headrace binary under test")
    return os.path.abspath(path)


def run(*args, env=None, timeout=10, stdin=subprocess.DEVNULL):
    """Runs `headrace ARGS...` to its end, for commands that must not go on to serve."""
    return subprocess.run([binary(), *map(str, args)], env={**os.environ, **(env or {})}, text=True,
                          stdin=stdin, capture_output=True, timeout=limit(timeout), check=False)


def split_address(text):
    """'127.0.0.1:80', '[::1]:80' -> (host, port); 'unix:/x', 'unix:@x' -> what AF_UNIX connects to.

    Where all addresses are listened on, the loopback one is given.
    """
    if text.startswith("unix:"):
        return re.sub("^@", "\0", text.removeprefix("unix:"))
    host, _, port = text.rpartition(":")
    host = {"": "127.0.0.1", "*": "127.0.0.1", "0.0.0.0": "127.0.0.1", "[::]": "::1"}.get(host, host)
    return host.strip("[]"), int(port)


class Proxy:
    """One running headrace.

    kind           the command: http, socks, mixed, relay
    args           more arguments, e.g. "--splice", "never"
    listen         its ADDR or a list of them
    user           a user name to run as (needs root); the binary is copied where that user can read it
    rlimit_nofile  soft and hard limit of descriptors: N or (SOFT, HARD)
    netns          a harness.netns.NetNs to run in
    prefix         a command to run it under, e.g. ("strace", "-f")
    access_log     True: written to a file of its own, read with access_lines()
    """

    def __init__(self, kind, *args, listen="127.0.0.1:0", env=None, prefix=(), user=None,
                 rlimit_nofile=None, netns=None, access_log=False):
        self.kind = kind
        self.log_lines = []      # stderr, line by line
        self.output_lines = []   # stdout
        self.listeners = []      # one dict per `listening` line: kind, address, listener, workers
        self._addresses = [listen] if isinstance(listen, str) else list(listen)
        self._folder = pathlib.Path(tempfile.mkdtemp(prefix="headrace-test-"))
        self._args = [str(a) for a in args] + self._ktls(args)
        self.access_path = self._folder / "access.log"
        if access_log:
            self._folder.chmod(0o777)
            self._args += ["--access-log", str(self.access_path)]
        self._env = {**os.environ, **(env or {})}
        self._command = [*self._wrapping(user, rlimit_nofile, netns), *prefix, self._binary_for(user), kind,
                         *self._addresses, *self._args]
        self._process = None
        self._readers = []
        self._stopped = False

    @staticmethod
    def _ktls(args):
        """HEADRACE_KTLS=on has the kernel do what TLS a test is about (tests/guest does so)."""
        mode = os.environ.get("HEADRACE_KTLS")
        words = {"--tls-cert": f"tls.ktls={mode}", "--to-tls": f"to_tls.ktls={mode}"} if mode else {}
        told = any("tls.ktls=" in str(word) for word in args)
        return [word for flag, setting in words.items() if flag in args and not told for word in ("--set", setting)]

    def _binary_for(self, user):
        if user is None:
            return binary()
        self._folder.chmod(0o777)
        copy = self._folder / "headrace"
        shutil.copy(binary(), copy)
        copy.chmod(0o755)
        return str(copy)

    @staticmethod
    def _wrapping(user, rlimit_nofile, netns):
        """Small programs that change one thing and exec the next, so that the pid stays the proxy's."""
        command = []
        if netns is not None:
            command += ["nsenter", f"--net={netns.path}"]
        if rlimit_nofile is not None:
            soft, hard = rlimit_nofile if isinstance(rlimit_nofile, tuple) else (rlimit_nofile,) * 2
            command += ["prlimit", f"--nofile={soft}:{hard}"]
        command += ["setpriv", "--pdeathsig", "KILL"]  # never outlives a test run that is killed
        if user is not None:
            command += ["--reuid", user, "--regid", "nogroup", "--clear-groups"]
        return command

    # ---- life ----

    def __enter__(self):
        return self.start()

    def start(self):
        self._process = subprocess.Popen(self._command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                         stderr=subprocess.PIPE, env=self._env)
        for stream, lines in ((self._process.stderr, self.log_lines), (self._process.stdout, self.output_lines)):
            reader = threading.Thread(target=self._collect, args=(stream, lines), daemon=True)
            reader.start()
            self._readers.append(reader)
        try:
            wait_until(self._is_listening, 10, lambda: f"{self._command} does not listen: {self.log_lines}")
        except BaseException:
            self.kill()
            raise
        return self

    @staticmethod
    def _collect(stream, lines):
        with stream:
            for line in iter(stream.readline, b""):
                lines.append(line.decode("utf-8", "replace").rstrip("\n"))

    def _is_listening(self):
        if self._process.poll() is not None:
            self._join_readers()
            raise AssertionError(f"{self._command} ended with {self._process.returncode}: {self.log_lines}")
        found = [m.groupdict() for m in map(LISTENING.search, list(self.log_lines)) if m]
        for entry in found:
            entry["workers"] = int(entry["workers"])
        self.listeners = found
        return len(found) >= len(self._addresses)

    def __exit__(self, kind, error, trace):
        if error is not None:
            self.kill()
            print("headrace's stderr:\n  " + "\n  ".join(self.log_lines[-40:]))
            return False
        try:
            self.stop()
        finally:
            self.kill()
        return False

    def stop(self, drain_seconds=1.0):
        """TERM, a second one when sessions still drain after `drain_seconds`; judges how it ended."""
        if self._stopped:
            return
        self.signal(signal.SIGTERM)
        try:
            self._process.wait(limit(drain_seconds))
        except subprocess.TimeoutExpired:
            self.signal(signal.SIGTERM)
        self.expect_exit(0)

    def expect_exit(self, code, seconds=5):
        """Waits for the process to end by itself, or by what the test did, and judges it."""
        self._stopped = True
        try:
            got = self._process.wait(limit(seconds))
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"does not end within {limit(seconds):g} s: {self.log_lines[-20:]}") from None
        self._join_readers()
        self._clean_up()
        findings = [line for line in self.log_lines if _FINDINGS.search(line)]
        assert not findings, "\n".join(self.log_lines[-200:])
        assert got == code, f"exit code {got}, not {code}: {self.log_lines[-20:]}"

    def kill(self):
        """Ends it without judgement."""
        self._stopped = True
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._join_readers()
        self._clean_up()

    def _join_readers(self):
        for reader in self._readers:
            reader.join(limit(5))

    def _clean_up(self):
        if self.access_path.exists():
            self._access_text = self.access_path.read_bytes()
        shutil.rmtree(self._folder, ignore_errors=True)

    def signal(self, number):
        self._process.send_signal(number)

    @property
    def running(self):
        return self._process.poll() is None

    # ---- where it listens ----

    @property
    def address(self):
        """(host, port) of the first listener; a path for a unix socket."""
        return split_address(self.listeners[0]["address"])

    @property
    def addresses(self):
        return [split_address(entry["address"]) for entry in self.listeners]

    @property
    def port(self):
        return self.address[1]

    @property
    def workers(self):
        return self.listeners[0]["workers"]

    # ---- what it says ----

    @property
    def log_text(self):
        return "\n".join(self.log_lines)

    def wait_log(self, pattern, seconds=2):
        """Waits for a stderr line that matches and returns the match."""
        regex = re.compile(pattern)
        return wait_until(lambda: next(filter(None, map(regex.search, list(self.log_lines))), None), seconds,
                          lambda: f"a log line like {pattern!r} in {self.log_lines[-20:]}")

    def access_bytes(self):
        if self.access_path.exists():
            return self.access_path.read_bytes()
        return getattr(self, "_access_text", b"")

    def access_lines(self):
        """The whole lines of the access log so far, as dicts of text."""
        whole, _, _ = self.access_bytes().rpartition(b"\n")
        return [logfmt.parse(line) for line in whole.split(b"\n") if line]

    def wait_access_lines(self, count=1, seconds=3):
        return wait_until(lambda: (lines := self.access_lines()) and len(lines) >= count and lines, seconds,
                          lambda: f"{count} access-log lines; there are: {self.access_bytes()!r}")

    # ---- what it uses ----

    @property
    def pid(self):
        return self._process.pid

    def fd_kinds(self):
        """{'socket': n, 'pipe': n, 'other': n} of its open descriptors."""
        kinds = {"socket": 0, "pipe": 0, "other": 0}
        folder = f"/proc/{self.pid}/fd"
        for name in os.listdir(folder):
            with contextlib.suppress(FileNotFoundError):
                kind = os.readlink(f"{folder}/{name}").partition(":")[0]
                kinds[kind if kind in kinds else "other"] += 1
        return kinds

    def fds(self):
        """Number of its open descriptors."""
        return sum(self.fd_kinds().values())

    @contextlib.contextmanager
    def keeps_base_fds(self, seconds=2):
        """What happens inside leaves as many descriptors as before, within 2 s of its end.

        Idle pipes that the workers may pool count as none.
        """
        before = self.fd_kinds()
        yield
        pooled = _POOLED_PIPE_FDS_PER_WORKER * self.workers

        def same():
            now = self.fd_kinds()
            return (now["socket"] <= before["socket"] and now["other"] <= before["other"]
                    and now["pipe"] <= before["pipe"] + pooled)
        wait_until(same, seconds, lambda: f"base fds: {before} before, {self.fd_kinds()} now")

    def cpu_seconds(self):
        """User and system time used by all its threads so far."""
        with open(f"/proc/{self.pid}/stat", encoding="ascii") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def thread_cpu_seconds(self):
        """{thread name/id: CPU seconds}, one entry per thread."""
        result = {}
        for task in os.listdir(f"/proc/{self.pid}/task"):
            with open(f"/proc/{self.pid}/task/{task}/schedstat", encoding="ascii") as file:
                result[int(task)] = int(file.read().split()[0]) / 1e9
        return result

    def upstream_ports_by_loop(self, port):
        """One set per event loop of the proxy: the local ports of the connections to `port` it watches.

        Read from the kernel's lists of what each epoll descriptor watches, since the spread of
        connections over workers shows nowhere else.
        """
        folder = f"/proc/{self.pid}"
        local_ports = {}  # inode -> local port
        for table in ("tcp", "tcp6"):
            with open(f"{folder}/net/{table}", encoding="ascii") as file:
                for fields in map(str.split, list(file)[1:]):
                    if int(fields[2].rpartition(":")[2], 16) == port:
                        local_ports[fields[9]] = int(fields[1].rpartition(":")[2], 16)
        loops = []
        for fd in os.listdir(f"{folder}/fd"):
            with contextlib.suppress(FileNotFoundError):
                if os.readlink(f"{folder}/fd/{fd}") != "anon_inode:[eventpoll]":
                    continue
                watched = set()
                with open(f"{folder}/fdinfo/{fd}", encoding="ascii") as file:
                    for target in re.findall(r"tfd:\s*(\d+)", file.read()):
                        inode = re.sub(r"\D", "", os.readlink(f"{folder}/fd/{target}"))
                        watched.add(local_ports.get(inode))
                loops.append(watched - {None})
        return loops

    def assert_cpu_quiet(self, seconds=5.0, share=0.05):
        """It uses less than `share` of one core over `seconds` from now."""
        before, watch = self.cpu_seconds(), Stopwatch()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        assert self.running, f"ended: {self.log_lines[-20:]}"
        used = self.cpu_seconds() - before
        assert used < limit(share) * watch.seconds, f"{used:.2f} s of CPU in {watch.seconds:.1f} s"

    def rss_kib(self):
        with open(f"/proc/{self.pid}/status", encoding="ascii") as file:
            return int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1))
